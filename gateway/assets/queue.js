// The queue of each route, and moving its entries.

import { path, post } from "./api.js";
import { keep, make, mark, write } from "./dom.js";

/** The last state: a move needs its version and positions. */
let current = null;

/** Shows the queues. */
export function update(parent, state) {
  current = state;
  const states = new Map(state.breakers.map((breaker) => [breaker.name, breaker.state]));
  keep(parent, state.routes, (route) => route.model, create, (node, route) => {
    const [, list, trial] = node.children;
    keep(list, route.queue, keyOf, (entry) => createEntry(route.model, entry), (item, entry) => {
      updateEntry(item, entry, route.queue, states.get(entry.breaker));
    });
    write(trial, route.canary
      ? `${percent(route.canary.share)} of the requests try ${labelOf(route.canary)} first`
      : "");
    trial.hidden = !route.canary;
  });
}

function create(route) {
  const title = make("h3", {}, route.model);
  return make("article", { class: "route" },
    title,
    make("ol", { "aria-label": `Queue of ${route.model}` }),
    make("p", { class: "trial" }),
    make("p", { class: "error", role: "alert" }));
}

function createEntry(model, entry) {
  const label = labelOf(entry);
  const up = make("button", { type: "button", "aria-label": `Move ${label} up`, "data-by": -1 }, "↑");
  const down = make("button", { type: "button", "aria-label": `Move ${label} down`, "data-by": 1 }, "↓");
  const item = make("li", {},
    make("span", { class: "target" }, label),
    make("span", { class: "controls" }, make("span", { class: "state" }), up, down));
  for (const button of [up, down]) {
    button.addEventListener("click", () => move(model, entry, button));
  }
  return item;
}

function updateEntry(item, entry, queue, state) {
  const [stateText, up, down] = item.lastElementChild.children;
  mark(item, "data-state", state);
  write(stateText, state ?? "");
  const index = queue.indexOf(entry);
  // Not `disabled`: a button at the end of its way keeps the focus.
  mark(up, "aria-disabled", index === 0 ? "true" : null);
  mark(down, "aria-disabled", index === queue.length - 1 ? "true" : null);
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

function percent(share) {
  return `${(share * 100).toLocaleString(undefined, { maximumFractionDigits: 1 })}\u00a0%`;
}
