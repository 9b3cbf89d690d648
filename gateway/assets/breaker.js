// A breaker's card: its state as the gateway tells it, and what can be done about it.
// Of one that is well the card is a line; what is ill says why; all else is behind its name.

import { path, post } from "./api.js";
import { keep, make, mark, write } from "./dom.js";
import * as evidence from "./evidence.js";
import { inOrder, levelOf } from "./health.js";
import { ACTIONS, ask } from "./operate.js";
import * as rules from "./rules.js";
import { ago, duration, percent, unbroken } from "./text.js";
import { canvas, draw } from "./window.js";

/** A mark for each state, so that colour is not all that tells them apart. */
const SIGNS = {
  closed: "●",
  open: "■",
  "half-open": "◐",
  "forced open": "▲",
  disabled: "○",
  "observe-only": "◌",
  suspended: "✕",
};

const parts = new WeakMap();

/** Shows the breakers of a state that was received at `receivedAt` of the page's clock. */
export function show(parent, state, receivedAt) {
  keep(parent, inOrder(state.breakers), (item) => item.name, create,
    (card, item) => update(card, item, state, receivedAt));
}

function create({ name }) {
  const at = {
    sign: make("span", { class: "sign", "aria-hidden": "true" }),
    state: make("span"),
    brief: make("span", { class: "brief" }),
    meaning: make("p", { class: "meaning" }),
    evidence: evidence.create(),
    window: canvas(),
    rules: make("ul", { class: "rules", "aria-label": "Rules" }),
    facts: make("p", { class: "facts" }),
    totals: make("dl", { class: "totals" }),
    result: make("p", { class: "result", role: "status" }),
  };
  const id = `breaker-${idOf(name)}`;
  at.more = make("div", { class: "more", id: `more-${idOf(name)}`, hidden: "" },
    at.window, at.rules, at.facts, actions(name, at.result), at.result,
    make("details", {}, make("summary", {}, "Calls"), at.totals));
  at.opener = make("button", { type: "button", "aria-expanded": "false", "aria-controls": at.more.id }, name);
  at.opener.addEventListener("click", () => {
    mark(at.opener, "aria-expanded", String(at.more.hidden));
    at.more.hidden = !at.more.hidden;
    tick(card);
  });
  const card = make("article", { class: "breaker", "aria-labelledby": id },
    make("header", {}, make("h3", { id, class: "outside" }, at.opener),
      make("span", { class: "state" }, at.sign, " ", at.state), at.brief),
    at.meaning, at.evidence, at.more);
  parts.set(card, at);
  return card;
}

/** A probe harms nobody and stands apart; each of the others says what it does. */
function actions(name, result) {
  const probe = make("button", { type: "button" }, "Send a probe");
  probe.addEventListener("click", () => sendProbe(name, probe, result));
  const buttons = ACTIONS.map((action) => {
    const hint = make("small", { id: `${action.name}-${idOf(name)}` }, action.hint);
    const button = make("button", {
      type: "button", "data-action": action.name, "aria-label": `${action.label}…`, "aria-describedby": hint.id,
    }, `${action.label}…`);
    button.addEventListener("click", () => ask(action, name));
    return make("span", { class: "action" }, button, hint);
  });
  return make("div", { class: "actions", role: "group", "aria-label": `Actions on ${name}` },
    make("span", { class: "action" }, probe, make("small", {}, "one tiny request, now")), ...buttons);
}

function update(card, breaker, { now_ms }, receivedAt) {
  const at = parts.get(card);
  const level = levelOf(breaker);
  const shown = breaker.suspended ? "suspended" : breaker.state;
  mark(card, "data-state", shown);
  mark(card, "data-level", level);
  write(at.sign, SIGNS[shown] ?? "?");
  write(at.state, breaker.suspended ? breaker.suspended.cause : breaker.state);
  write(at.brief, briefOf(breaker, level, now_ms));
  at.due = breaker.remaining_ms === null ? null : receivedAt + breaker.remaining_ms;
  at.breaker = breaker;
  tick(card);
  evidence.update(at.evidence, breaker, now_ms);
  const recorded = rules.isRecorded(breaker.state);
  mark(at.window, "hidden", recorded ? null : "");
  at.rules.hidden = !recorded;
  if (recorded) {
    draw(at.window, breaker);
    rules.update(at.rules, breaker);
  }
  write(at.facts, factsOf(breaker));
  rules.updateTotals(at.totals, breaker.totals);
}

/** Counts down between two states. */
export function tick(card) {
  const { meaning, due, breaker, more } = parts.get(card);
  const left = due === null ? null : Math.max(0, due - performance.now());
  write(meaning, meaningOf(breaker, left));
  meaning.hidden = more.hidden && levelOf(breaker) === "well";
}

function briefOf({ recent, since_ms, in_flight, suspended }, level, nowMs) {
  const since = suspended?.since_ms ?? since_ms;
  const traffic = recent.calls === 0 ? "no calls this minute" : [
    `${recent.calls.toLocaleString()} calls/min`,
    recent.failed === 0 ? "none failed" : `${recent.failed.toLocaleString()} failed`,
    in_flight > 0 && `${in_flight} in flight`,
  ].filter(Boolean).join(", ");
  return level !== "well" && since ? `for ${ago(nowMs - since)} · ${traffic}` : traffic;
}

function factsOf({ in_flight, max_in_flight, window, generation, stale, throttle }) {
  return [
    `${in_flight} of ${max_in_flight} in flight`,
    windowOf(window),
    `generation ${generation}`,
    stale > 0 && `${stale} stale`,
    throttle && `throttle k ${throttle.k}, refused ${throttle.refused.toLocaleString()}`,
  ].filter(Boolean).map(unbroken).join(" · ");
}

function windowOf({ size, length_ms }) {
  if (size !== undefined) return `window of ${size}`;
  return length_ms === undefined ? "window of scores" : `window of ${duration(length_ms)}`;
}

function meaningOf({ state, probes, suspended, throttle }, left) {
  if (suspended) {
    return `Gets no calls: for ${duration(suspended.remaining_ms)}, or until keys are read again or a check succeeds.`;
  }
  switch (state) {
    case "closed":
      return throttle?.share > 0
        ? `Admits all calls but ${percent(throttle.share)}, which its throttle refuses: the provider accepted ${throttle.accepts} of ${throttle.requests}.`
        : "Admits all calls.";
    case "open":
      if (left === 0) return "Rejects calls; the next one is a probe.";
      return left === null ? "Rejects calls; no probe is due." : `Rejects calls; next probe in ${duration(left)}.`;
    case "half-open":
      return probes.out > 0
        ? `Rejects calls but probes: ${probes.out} of ${probes.max} out, ${probes.passed} of ${probes.to_close} passed.`
        : `Rejects calls but probes: the next call is one, ${probes.passed} of ${probes.to_close} passed.`;
    case "forced open":
      return left === null
        ? "An operator has all calls rejected, until told otherwise."
        : `An operator has all calls rejected; half-open in ${duration(left)}.`;
    case "disabled":
      return "Switched off by an operator: admits all calls and records nothing.";
    default:
      return "Only observes, by an operator's word: admits all calls and reports what would have opened it.";
  }
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

/** A name as part of an element's id. */
function idOf(name) {
  return encodeURIComponent(name).replaceAll("%", "_");
}
