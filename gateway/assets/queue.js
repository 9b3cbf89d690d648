// Each route: who serves it and how much, what is left of it, and the order of its queue.

import { path, post } from "./api.js";
import { keep, make, mark, write } from "./dom.js";
import { ailment, levelOf, routeHealth } from "./health.js";
import { percent } from "./text.js";

/** The last state: a move needs its version and positions. */
let current = null;

/** Shows the routes, those with the least left first. */
export function show(parent, state) {
  current = state;
  const breakers = new Map(state.breakers.map((breaker) => [breaker.name, breaker]));
  const routes = state.routes
    .map((route) => ({ route, health: routeHealth(route, breakers) }))
    .sort((a, b) => urgency(a.health) - urgency(b.health) || a.route.model.localeCompare(b.route.model));
  keep(parent, routes, ({ route }) => route.model, create, (node, { route, health }) => {
    const [heading, serving, more, trial] = node.children;
    const list = more.lastElementChild;
    mark(node, "data-level", health.level);
    write(heading.lastElementChild, leftOf(health));
    write(serving, servingOf(route, health));
    keep(list, route.queue, keyOf, (entry) => createEntry(route.model, entry), (item, entry) => {
      updateEntry(item, entry, route, health, breakers.get(entry.breaker));
    });
    write(trial, route.canary
      ? `${percent(route.canary.share)} of the requests try ${labelOf(route.canary)} first`
      : "");
    trial.hidden = !route.canary;
  });
}

function urgency({ left, of }) {
  return left === 0 ? -1 : left / of;
}

function leftOf({ left, trials, of }) {
  const probed = trials > 0 ? `, ${trials} on trial` : "";
  return left === 0 ? `▲ nobody left of ${of}${probed}` : `${left === of ? "all" : left} of ${of} left${probed}`;
}

function servingOf({ queue, recent }, { next, share, left }) {
  const failed = recent.failed > 0 ? `; ${recent.failed.toLocaleString()} requests failed` : "";
  const busiest = [...queue].sort((a, b) => b.answered - a.answered)[0];
  if (busiest && busiest.answered > 0 && left > 0) {
    const part = share(busiest) > 0.995 ? "all" : percent(Math.round(share(busiest) * 100) / 100);
    return `${labelOf(busiest)} serves ${part} of ${recent.requests.toLocaleString()} requests in the last minute${failed}.`;
  }
  if (left === 0) return `Requests fail until a provider is back${failed}.`;
  return `No answers in the last minute; the next request goes to ${labelOf(next)}${failed}.`;
}

function create({ route }) {
  const title = make("h3", { class: "outside" }, route.model);
  return make("article", { class: "route" },
    make("header", {}, title, make("p", { class: "left" })),
    make("p", { class: "serving outside" }),
    // Where there is room for it; a phone shows who serves, and the rest when asked.
    make("details", { class: "queue", open: matchMedia("(min-width: 30rem)").matches ? "" : null },
      make("summary", {}, "Queue"),
      make("ol", { "aria-label": `Queue of ${route.model}` })),
    make("p", { class: "trial outside" }),
    make("p", { class: "error", role: "alert" }));
}

function createEntry(model, entry) {
  const label = labelOf(entry);
  const up = make("button", { type: "button", "aria-label": `Move ${label} up`, "data-by": -1 }, "↑");
  const down = make("button", { type: "button", "aria-label": `Move ${label} down`, "data-by": 1 }, "↓");
  const item = make("li", {},
    make("span", { class: "target outside" }, label),
    make("span", { class: "controls" }, make("span", { class: "state" }), make("span", { class: "share" }), up, down));
  for (const button of [up, down]) {
    button.addEventListener("click", () => move(model, entry, button));
  }
  return item;
}

function updateEntry(item, entry, { queue }, { share }, breaker) {
  const [state, part, up, down] = item.lastElementChild.children;
  mark(item, "data-state", entry.suspended ? "suspended" : breaker?.state);
  write(state, stateOf(entry, breaker));
  write(part, entry.answered === 0 ? "–" : `${Math.round(share(entry) * 100)}\u00a0%`);
  mark(part, "title", `${entry.answered} answers in the last minute`);
  item.style.setProperty("--share", `${share(entry) * 100}%`);
  const index = queue.indexOf(entry);
  // Not `disabled`: a button at the end of its way keeps the focus.
  mark(up, "aria-disabled", index === 0 ? "true" : null);
  mark(down, "aria-disabled", index === queue.length - 1 ? "true" : null);
}

function stateOf({ suspended }, breaker) {
  if (suspended) return suspended.cause;
  if (breaker === undefined) return "";
  return levelOf(breaker) === "watch" ? ailment(breaker) : breaker.state;
}

async function move(model, entry, button) {
  if (button.getAttribute("aria-disabled")) return;
  const queue = current.routes.find((route) => route.model === model)?.queue ?? [];
  const index = queue.findIndex((other) => keyOf(other) === keyOf(entry));
  const error = button.closest(".route").querySelector(".error");
  write(error, "");
  try {
    await post(path("routes", model, "move"), {
      version: current.version,
      breaker: entry.breaker,
      model: entry.model,
      to: index + Number(button.dataset.by),
    });
  } catch (problem) {
    write(error, problem.status === 409
      ? "Not moved: someone else has changed the configuration. What is shown now is the new one; try again."
      : `Not moved: ${problem.message}`);
  }
}

function keyOf(entry) {
  return `${entry.breaker}\n${entry.model}`;
}

function labelOf(entry) {
  return `${entry.provider}: ${entry.model}`;
}
