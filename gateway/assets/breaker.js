// A breaker's card: its state as the gateway tells it, and what can be done about it.

import { path, post } from "./api.js";
import { duration, make, mark, write } from "./dom.js";
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
    why: make("p", { class: "why" }),
    wait: make("p", { class: "wait" }),
    window: canvas(),
    rules: make("tbody"),
    facts: make("p", { class: "facts" }),
    totals: make("dl", { class: "totals" }),
    result: make("p", { class: "result", role: "status" }),
  };
  const title = make("h3", { id: `breaker-${idOf(name)}` }, name);
  const probe = make("button", { type: "button", "aria-describedby": title.id }, "Send a probe");
  probe.addEventListener("click", () => sendProbe(name, probe, at.result));
  const card = make("article", { class: "breaker", "aria-labelledby": title.id },
    make("header", {}, title, make("p", { class: "state" }, at.sign, " ", at.state)),
    at.why, at.wait, at.window,
    make("table", {},
      make("caption", { class: "unseen" }, "Rules: what the window holds against their limits"),
      make("thead", { class: "unseen" }, make("tr", {},
        ...["Rule", "Share", "Now and limit"].map((text) => make("th", { scope: "col" }, text)))),
      at.rules),
    at.facts,
    make("div", { class: "buttons", role: "group", "aria-label": `Actions on ${name}` },
      ...ACTIONS.map((action) => {
        const button = make("button", { type: "button", "data-action": action.name }, `${action.label}…`);
        button.addEventListener("click", () => ask(action, name));
        return button;
      }), probe),
    at.result,
    make("details", {}, make("summary", {}, "Calls since the start"), at.totals));
  parts.set(card, at);
  return card;
}

/** Shows a breaker's state, read at `receivedAt` of the page's clock. */
export function update(card, breaker, receivedAt) {
  const at = parts.get(card);
  mark(card, "data-state", breaker.state);
  write(at.sign, SIGNS[breaker.state] ?? "?");
  write(at.state, breaker.state);
  write(at.why, breaker.cause ?? "");
  at.why.hidden = !breaker.cause;
  at.due = breaker.remaining_ms === null ? null : receivedAt + breaker.remaining_ms;
  at.breaker = breaker;
  tick(card);
  draw(at.window, breaker);
  updateRules(at.rules, breaker);
  const { in_flight, max_in_flight, generation, attempt, stale } = breaker;
  write(at.facts, [
    `${in_flight} of ${max_in_flight} in flight`,
    `generation ${generation}`,
    attempt > 0 && `re-opened ${attempt} ${attempt === 1 ? "time" : "times"}`,
    stale > 0 && `${stale} stale`,
  ].filter(Boolean).join(" · "));
  updateTotals(at.totals, breaker.totals);
}

/** Counts down between two states. */
export function tick(card) {
  const { wait, due, breaker } = parts.get(card);
  const text = waitText(breaker, due === null ? null : Math.max(0, due - performance.now()));
  write(wait, text);
  wait.hidden = text === "";
}

function waitText({ state, probes }, left) {
  switch (state) {
    case "open":
      return left === null ? "no probe is due" : `next probe in ${duration(left)}`;
    case "forced open":
      return left === null ? "until an operator ends it" : `half-open in ${duration(left)}`;
    case "half-open":
      if (probes.out > 0) return `${probes.out} of ${probes.max} probes out, ${probes.passed} of ${probes.to_close} passed`;
      return `the next call is a probe, ${probes.passed} of ${probes.to_close} passed`;
    default:
      return "";
  }
}

/** One row for each rule that is set. */
function updateRules(body, { counts, limits }) {
  const rows = [
    ["failures", counts.failures, limits.failure_ratio],
    ["timeouts", counts.timeouts, limits.timeout_ratio],
    [limits.slow_call_ms === null ? "slow" : `slow (${limits.slow_call_ms} ms)`, counts.slow, limits.slow_ratio],
  ].filter(([, , limit]) => limit !== null && limit !== undefined);
  while (body.rows.length > rows.length) body.rows[0].remove();
  while (body.rows.length < rows.length) {
    body.append(make("tr", {}, make("th", { scope: "row" }), make("td"), make("td", { class: "share" })));
    const meter = make("meter", { min: 0, max: 1 });
    body.lastElementChild.cells[1].append(meter);
  }
  rows.forEach(([name, count, limit], index) => {
    const [label, drawn, text] = body.rows[index].cells;
    const share = counts.samples === 0 ? 0 : count / counts.samples;
    const meter = drawn.firstElementChild;
    write(label, name);
    mark(meter, "value", share);
    // A share that reaches the limit is no longer in the good part.
    mark(meter, "optimum", 0);
    mark(meter, "low", Math.max(0, limit - 1e-9));
    mark(meter, "high", Math.max(0, limit - 1e-9));
    mark(meter, "aria-label", `share of ${name}`);
    const waiting = counts.samples < limits.min_calls;
    write(text, `${count}/${counts.samples} = ${percent(share)}, opens at ${percent(limit)}` +
      (waiting ? ` of ${limits.min_calls} or more` : ""));
  });
  const run = limits.consecutive_failures;
  const table = body.parentElement;
  let note = table.querySelector("tfoot");
  if (run && !note) table.append(make("tfoot", {}, make("tr", {}, make("td", { colspan: 3 }))));
  note = table.querySelector("tfoot");
  if (note) {
    note.hidden = !run;
    write(note.rows[0].cells[0], run ? `opens at ${run} failures in a row` : "");
  }
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

function percent(share) {
  return `${(share * 100).toLocaleString(undefined, { maximumFractionDigits: 1 })} %`;
}

/** A name as part of an element's id. */
function idOf(name) {
  return encodeURIComponent(name).replaceAll("%", "_");
}
