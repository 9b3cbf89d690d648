// The judgement of the page: who is ill, what is left of each route, and the one line that says it.

import { listed, percent } from "./text.js";

/** Most urgent first. */
const LEVELS = ["ill", "held", "watch", "well"];

/**
 * Notes at each breaker whether a target behind it is left out for its key or its credit: that is no
 * illness that a breaker sees, and yet it gets no calls.
 */
export function noteSuspensions({ breakers, routes }) {
  const entries = routes.flatMap(({ queue, canary }) => canary ? [...queue, canary] : queue);
  for (const breaker of breakers) {
    breaker.suspended = entries.find((entry) => entry.breaker === breaker.name && entry.suspended)?.suspended ?? null;
  }
}

/**
 * How a breaker stands: `ill` (its calls are rejected or on trial, or it gets none), `held` (an operator rejects
 * them), `watch` (nothing protects it, it is full, or a share of its calls is refused), `well`.
 */
export function levelOf(breaker) {
  if (breaker.suspended) return "ill";
  switch (breaker.state) {
    case "open":
    case "half-open":
      return "ill";
    case "forced open":
      return "held";
    case "closed":
      return isFull(breaker) || isThrottled(breaker) ? "watch" : "well";
    default:
      return "watch";
  }
}

/** The breakers, the most urgent first; those alike by name. */
export function inOrder(breakers) {
  return [...breakers].sort((a, b) =>
    LEVELS.indexOf(levelOf(a)) - LEVELS.indexOf(levelOf(b)) || a.name.localeCompare(b.name));
}

/** Whether a target takes all calls that come to it: what is on trial takes a few. */
function isLeft(entry, breaker) {
  return breaker !== undefined && !entry.suspended && admits(breaker);
}

function admits(breaker) {
  return !isFull(breaker)
    && ["closed", "disabled", "observe-only"].includes(breaker.state);
}

function isFull({ in_flight, max_in_flight }) {
  return max_in_flight > 0 && in_flight >= max_in_flight;
}

/** Whether a share of its calls is refused, since it does not accept them all. */
function isThrottled({ throttle }) {
  return throttle !== null && throttle.share > 0;
}

/** In a few words, what is wrong with a breaker. */
export function ailment(breaker) {
  if (breaker.suspended) return breaker.suspended.cause;
  if (breaker.state === "closed") return isFull(breaker) ? "full" : `${percent(breaker.throttle.share)} refused`;
  // What it said last tells more than that it is left alone for it.
  if (levelOf(breaker) === "ill" && breaker.last_error) return breaker.last_error.what.split(/[(:]/)[0].trim();
  return breaker.state;
}

/** What is left of a route, and who carries it. */
export function routeHealth(route, breakers) {
  const of = (entry) => breakers.get(entry.breaker);
  const left = route.queue.filter((entry) => isLeft(entry, of(entry)));
  const trials = route.queue.filter((entry) => of(entry)?.state === "half-open" && !entry.suspended);
  const answered = route.queue.reduce((sum, entry) => sum + entry.answered, 0);
  return {
    left: left.length,
    trials: trials.length,
    of: route.queue.length,
    next: left[0] ?? trials[0] ?? null,
    share: (entry) => answered === 0 ? 0 : entry.answered / answered,
    level: left.length > 0 ? (left.length < route.queue.length ? "watch" : "well") : "ill",
  };
}

/** Names of the routes that nobody would be left to serve without this breaker. */
export function orphans(state, name) {
  const breakers = new Map(state.breakers.map((breaker) => [breaker.name, breaker]));
  return state.routes
    .filter((route) => route.queue.some((entry) => entry.breaker === name))
    .filter((route) => !route.queue.some((entry) =>
      entry.breaker !== name && isLeft(entry, breakers.get(entry.breaker))))
    .map((route) => route.model);
}

/** The one line about everything: how bad it is, its sentences, and a short one for the tab. */
export function verdict(state) {
  const breakers = new Map(state.breakers.map((breaker) => [breaker.name, breaker]));
  const health = state.routes.map((route) => ({ route, ...routeHealth(route, breakers) }));
  const down = health.filter(({ level }) => level === "ill");
  const ordered = inOrder(state.breakers);
  const bad = ordered.filter((breaker) => ["ill", "held"].includes(levelOf(breaker)));
  const watched = ordered.filter((breaker) => levelOf(breaker) === "watch");
  const what = state.breakers.every(({ model }) => model === null) ? "provider" : "breaker";
  const named = (list) => listed(list.map((breaker) => `${breaker.name} (${ailment(breaker)})`));

  const parts = [];
  if (state.draining) parts.push("Stopping: no new requests are taken.");
  if (down.length > 0) {
    const names = listed(down.map(({ route }) => route.model));
    parts.push(`Down: nobody is left for ${names}.`);
  }
  if (bad.length > 0) parts.push(`${bad.length} of ${state.breakers.length} ${what}s out: ${named(bad)}.`);
  if (watched.length > 0) parts.push(`Look at ${named(watched)}.`);
  parts.push(traffic(state, down.length === 0));

  const level = down.length > 0 || state.draining ? "ill" : bad.length > 0 ? "held" : watched.length > 0 ? "watch" : "well";
  if (level === "well") parts.unshift(`All well: ${counted(state.breakers.length, what)}, ${counted(state.routes.length, "route")}.`);
  return { level, parts, title: titleOf(state, down, bad, watched) };
}

function titleOf(state, down, bad, watched) {
  if (state.draining) return "stopping";
  const parts = [
    down.length > 0 && `${listed(down.map(({ route }) => route.model), 2)} down`,
    bad.length > 0 && `${bad.length} of ${state.breakers.length} out`,
  ].filter(Boolean);
  if (parts.length > 0) return `▲ ${parts.join(", ")}`;
  return watched.length > 0 ? `◌ ${watched.length} to look at` : "● all well";
}

function traffic({ routes }, allServed) {
  const sum = (part) => routes.reduce((sum, route) => sum + route.recent[part], 0);
  const [requests, failed] = [sum("requests"), sum("failed")];
  const served = allServed && routes.length > 0 ? "All routes are served: " : "";
  if (requests === 0) return `${served}${served ? "no" : "No"} requests in the last minute.`;
  const errors = failed === 0 ? "none failed" : `${failed} failed (${percent(failed / requests)})`;
  return `${served}${requests.toLocaleString()} requests in the last minute, ${errors}.`;
}

function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
