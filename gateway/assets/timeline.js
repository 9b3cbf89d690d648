// The transitions, newest first.

import { get } from "./api.js";
import { keep, make, mark } from "./dom.js";

/** More than this are not kept on the page, unless older ones are asked for. */
const SHOWN = 200;

const known = new Map();
let shown = SHOWN;

/** Takes in transitions; those already known change nothing. Gives the new ones. */
export function add(transitions) {
  const fresh = transitions.filter((transition) => !known.has(transition.id));
  for (const transition of fresh) known.set(transition.id, transition);
  const ids = [...known.keys()].sort((a, b) => a - b);
  for (const id of ids.slice(0, Math.max(0, ids.length - shown))) known.delete(id);
  return fresh;
}

/** Forgets all: the gateway was started anew and counts from the beginning. */
export function clear() {
  known.clear();
  shown = SHOWN;
}

/** Fetches some that the database has from before those known. Gives how many there were. */
export async function fetchOlder() {
  const oldest = known.size === 0 ? "" : `?before=${Math.min(...known.keys())}`;
  const { transitions } = await get(`admin/transitions${oldest}`);
  shown += transitions.length;
  add(transitions);
  return transitions.length;
}

/** Shows what is known. */
export function show(list) {
  const newest = [...known.values()].sort((a, b) => b.id - a.id);
  keep(list, newest, (transition) => String(transition.id), create, () => {});
  return newest.length;
}

/** What a transition came to, in words. */
export function describe({ from, to, cause, reason, label }) {
  let what = `${from} → ${to}`;
  if (from === to) what = from === "observe-only" && !reason ? "would have opened" : `${to} again`;
  return { what, why: reason || label ? `${cause}: ${reason ?? label}` : cause };
}

function create(transition) {
  const { what, why } = describe(transition);
  const at = new Date(transition.at_ms);
  const { samples, failures, timeouts, slow } = transition.counts;
  const counts = samples === 0 ? "" : [
    `${failures} of ${samples} failed`,
    timeouts > 0 && `${timeouts} timed out`,
    slow > 0 && `${slow} slow`,
  ].filter(Boolean).join(", ");
  const item = make("li", {},
    make("time", { datetime: at.toISOString(), title: at.toLocaleString() }, at.toLocaleTimeString()),
    make("strong", { class: "outside" }, transition.breaker),
    make("span", { class: "what" }, what),
    make("span", { class: "why outside" }, why),
    make("span", { class: "counts" }, counts));
  mark(item, "data-state", transition.to);
  return item;
}
