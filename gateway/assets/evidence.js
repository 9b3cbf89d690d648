// Why a breaker is as it is: what tripped it, the last error, who says so, and since when.

import { keep, make, write } from "./dom.js";
import { ago, moment, percent } from "./text.js";

/** An empty list of evidence. */
export function create() {
  return make("dl", { class: "evidence" });
}

/** Shows what is known of a breaker's trouble; of one that is well, nothing. */
export function update(list, breaker, nowMs) {
  const rows = rowsOf(breaker, nowMs);
  keep(list, rows, ([name]) => name,
    ([name]) => make("div", {}, make("dt", {}, name), make("dd", { class: "outside" })),
    (row, [, text]) => write(row.lastElementChild, text));
  list.hidden = rows.length === 0;
}

function rowsOf({ state, cause, reason, since_ms, attempt, trip, last_error, suspended }, nowMs) {
  const troubled = state !== "closed" || suspended;
  if (!troubled) return [];
  const at = (ms) => `${moment(ms, nowMs)}, ${ago(nowMs - ms)} ago`;
  return [
    suspended && ["Left out", `${suspended.cause}: status ${suspended.status}${suspended.text ? `, ${suspended.text}` : ""}`],
    suspended && ["Since", at(suspended.since_ms)],
    trip && ["Tripped by", tripText(trip, last_error)],
    !trip && cause && !reason && ["Cause", cause],
    reason && ["Reason", `“${reason}”`],
    last_error && !suspended && ["Last error", `${last_error.what}; ${ago(nowMs - last_error.at_ms)} ago`],
    since_ms && !suspended && ["Since", at(since_ms) + (attempt > 0 ? `; reopened ${attempt}×` : "")],
  ].filter(Boolean);
}

/** The counts that the trip saw and the limit that they met. */
function tripText({ cause, counts, threshold, label }, lastError) {
  const { samples, failures, timeouts, slow } = counts;
  const share = (count) => samples === 0 ? "" : ` (${percent(count / samples)})`;
  const seen = samples === 0 ? [] : [
    `${failures} of ${samples} calls failed${share(failures)}`,
    timeouts > 0 && `${timeouts} of them timed out`,
    slow > 0 && `${slow} slow`,
  ].filter(Boolean);
  // The line below says it, and more, unless another error has come since.
  const isSaid = label && !lastError?.what.startsWith(label);
  const met = threshold ? `the rule asks for ${threshold}` : null;
  const text = [...seen, met].filter(Boolean).join(", ");
  return `${cause}${text ? `: ${text}` : ""}${isSaid ? `; ${label}` : ""}`;
}
