// A breaker's card: its state as the gateway tells it, and what can be done about it.

import { path, post } from "./api.js";
import { duration, keep, make, mark, write } from "./dom.js";
import { ACTIONS, ask } from "./operate.js";
import { canvas, draw } from "./window.js";

/** A mark for each state, so that colour is not all that tells them apart. */
const SIGNS = {
  closed: "●",
  open: "■",
  "half-open": "◐",
  "forced open": "▲",
  disabled: "○",
  "observe-only": "◌",
};

const parts = new WeakMap();

/** An empty card. */
export function create({ name }) {
  const at = {
    sign: make("span", { class: "sign", "aria-hidden": "true" }),
    state: make("span"),
    meaning: make("p", { class: "meaning" }),
    window: canvas(),
    rules: make("ul", { class: "rules", "aria-label": "Rules" }),
    facts: make("p", { class: "facts" }),
    totals: make("dl", { class: "totals" }),
    result: make("p", { class: "result", role: "status" }),
  };
  const title = make("h3", { id: `breaker-${idOf(name)}` }, name);
  const probe = make("button", { type: "button" }, "Send a probe");
  probe.addEventListener("click", () => sendProbe(name, probe, at.result));
  const buttons = ACTIONS.map((action) => {
    const button = make("button", { type: "button", "data-action": action.name }, `${action.label}…`);
    button.addEventListener("click", () => ask(action, name));
    return button;
  });
  const card = make("article", { class: "breaker", "aria-labelledby": title.id },
    make("header", {}, title, make("p", { class: "state" }, at.sign, " ", at.state)),
    at.meaning, at.window, at.rules, at.facts,
    make("div", { class: "buttons", role: "group", "aria-label": `Actions on ${name}` }, ...buttons, probe),
    at.result,
    make("details", {}, make("summary", {}, "Calls"), at.totals));
  parts.set(card, at);
  return card;
}

/** Shows a breaker's state, read at `receivedAt` of the page's clock. */
export function update(card, breaker, receivedAt) {
  const at = parts.get(card);
  mark(card, "data-state", breaker.state);
  write(at.sign, SIGNS[breaker.state] ?? "?");
  write(at.state, breaker.state);
  at.due = breaker.remaining_ms === null ? null : receivedAt + breaker.remaining_ms;
  at.breaker = breaker;
  tick(card);
  draw(at.window, breaker);
  updateRules(at.rules, breaker);
  const { in_flight, max_in_flight, generation, attempt, stale, window } = breaker;
  write(at.facts, [
    `${in_flight} of ${max_in_flight} in flight`,
    window.size === undefined ? `window of ${duration(window.length_ms)}` : `window of ${window.size}`,
    `generation ${generation}`,
    attempt > 0 && `reopened ${attempt}×`,
    stale > 0 && `${stale} stale`,
  ].filter(Boolean).map((fact) => fact.replaceAll(" ", "\u00a0")).join(" · "));
  updateTotals(at.totals, breaker.totals);
}

/** Counts down between two states. */
export function tick(card) {
  const { meaning, due, breaker } = parts.get(card);
  const left = due === null ? null : Math.max(0, due - performance.now());
  const cause = breaker.cause && breaker.state !== "forced open" ? `${breaker.cause}; ` : "";
  write(meaning, cause + meaningOf(breaker, left));
}

function meaningOf({ state, probes }, left) {
  switch (state) {
    case "closed":
      return "admits all calls";
    case "open":
      if (left === 0) return "the next call is a probe";
      return left === null ? "no probe is due" : `next probe in ${duration(left)}`;
    case "half-open":
      return probes.out > 0
        ? `${probes.out} of ${probes.max} probes out, ${probes.passed} of ${probes.to_close} passed`
        : `the next call is a probe, ${probes.passed} of ${probes.to_close} passed`;
    case "forced open":
      return left === null ? "rejects all calls until told otherwise" : `rejects all calls, half-open in ${duration(left)}`;
    case "disabled":
      return "admits all calls and records nothing";
    default:
      return "admits all calls and reports what would have opened it";
  }
}

/** One line and a bar for each rule on a share, a line for one on a run. */
function updateRules(list, { state, counts, limits }) {
  const rules = [
    ["failures", counts.failures, limits.failure_ratio],
    ["timeouts", counts.timeouts, limits.timeout_ratio],
    [`calls over ${limits.slow_call_ms} ms`, counts.slow, limits.slow_ratio],
  ].filter(([, , limit]) => limit !== null);
  if (limits.consecutive_failures !== null) rules.push([`opens at ${limits.consecutive_failures} failures in a row`]);
  const records = state === "closed" || state === "observe-only";
  keep(list, rules, ([name]) => name, createRule, (item, [name, count, limit]) => {
    if (limit === undefined) return;
    const [now, bound, bar] = item.children;
    const share = counts.samples === 0 ? 0 : count / counts.samples;
    write(now, records ? `${name}: ${count} of ${counts.samples} (${percent(share)})` : `${name}: not recorded`);
    const enough = !records || counts.samples >= limits.min_calls;
    write(bound, `limit ${percent(limit)}${enough ? "" : ` from ${limits.min_calls} calls on`}`);
    bar.style.setProperty("--share", percentOf(share));
    bar.style.setProperty("--limit", percentOf(limit));
    mark(bar, "data-over", enough && share >= limit);
  });
}

function createRule([name, , limit]) {
  if (limit === undefined) return make("li", {}, make("span", {}, name));
  return make("li", {}, make("span"), make("span", { class: "bound" }),
    make("span", { class: "bar", "aria-hidden": "true" }));
}

function updateTotals(list, totals) {
  const names = Object.keys(totals);
  while (list.children.length < names.length) list.append(make("div", {}, make("dt"), make("dd")));
  names.forEach((name, index) => {
    const [term, value] = list.children[index].children;
    write(term, name);
    write(value, totals[name].toLocaleString());
  });
}

async function sendProbe(name, button, result) {
  button.disabled = true;
  write(result, "sending a probe");
  mark(result, "data-bad", null);
  try {
    const answer = await post(path("breakers", name, "probe"), {});
    const counted = answer.counted ? "counted" : "not counted";
    write(result, answer.ok
      ? `probe answered in ${answer.took_ms} ms, ${counted}`
      : `probe failed after ${answer.took_ms} ms, ${counted}: ${answer.error}`);
    mark(result, "data-bad", answer.ok ? null : "");
  } catch (problem) {
    write(result, `no probe was sent: ${problem.message}`);
    mark(result, "data-bad", "");
  } finally {
    button.disabled = false;
    if (document.activeElement === document.body) button.focus();
  }
}

function percentOf(share) {
  return `${share * 100}%`;
}

function percent(share) {
  return `${(share * 100).toLocaleString(undefined, { maximumFractionDigits: 1 })}\u00a0%`;
}

/** A name as part of an element's id. */
function idOf(name) {
  return encodeURIComponent(name).replaceAll("%", "_");
}
