// A breaker's rules against what its window holds, and what its calls came to.

import { keep, make, mark, write } from "./dom.js";
import { duration, percent } from "./text.js";

/** One line and a bar for each rule on a share or a score, a line for one on a run. */
export function update(list, { state, counts, limits, window }) {
  const rules = [...ratios(state, counts, limits), ...scores(window, limits)];
  if (limits.consecutive_failures !== null) {
    rules.push({ name: `opens at ${limits.consecutive_failures} failures in a row` });
  }
  keep(list, rules, ({ name }) => name, create, (item, { now, bound, share, limit, isOver }) => {
    if (limit === undefined) return;
    const [told, most, bar] = item.children;
    write(told, now);
    write(most, bound);
    bar.style.setProperty("--share", `${share * 100}%`);
    bar.style.setProperty("--limit", `${limit * 100}%`);
    mark(bar, "data-over", isOver);
  });
}

function ratios(state, counts, limits) {
  const enough = !isRecorded(state) || counts.samples >= limits.min_calls;
  return [
    ["failures", counts.failures, limits.failure_ratio],
    ["timeouts", counts.timeouts, limits.timeout_ratio],
    [`calls over ${limits.slow_call_ms} ms`, counts.slow, limits.slow_ratio],
  ].filter(([, , limit]) => limit !== null).map(([name, count, limit]) => {
    const share = counts.samples === 0 ? 0 : count / counts.samples;
    return {
      name,
      now: `${name}: ${count} of ${counts.samples} (${percent(share)})`,
      bound: `limit ${percent(limit)}${enough ? "" : ` from ${limits.min_calls} calls on`}`,
      share,
      limit,
      isOver: enough && share >= limit,
    };
  });
}

/** A score opens the breaker at its limit once it has been above zero for long enough. */
function scores({ failures, slow }, limits) {
  const levels = [["score of failures", failures], [`score of calls over ${limits.slow_call_ms} ms`, slow]];
  return levels.filter(([, level]) => level).map(([name, { score, limit, above_zero_ms }]) => ({
    name,
    now: `${name}: ${score} of ${limit}`,
    bound: above_zero_ms === null ? "" : `above zero for ${duration(above_zero_ms)}`,
    share: score / limit,
    limit: 1,
    isOver: score >= limit,
  }));
}

/** Whether outcomes enter the window in this state; in the others there is none to show. */
export function isRecorded(state) {
  return state === "closed" || state === "observe-only";
}

function create({ name, limit }) {
  if (limit === undefined) return make("li", {}, make("span", {}, name));
  return make("li", {}, make("span"), make("span", { class: "bound" }),
    make("span", { class: "bar", "aria-hidden": "true" }));
}

/** What the calls came to, of all time. */
export function updateTotals(list, totals) {
  const names = Object.keys(totals);
  while (list.children.length < names.length) list.append(make("div", {}, make("dt"), make("dd")));
  names.forEach((name, index) => {
    const [term, value] = list.children[index].children;
    write(term, name);
    write(value, totals[name].toLocaleString());
  });
}
