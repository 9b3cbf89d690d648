// A breaker's rules against what its window holds, and what its calls came to.

import { keep, make, mark, write } from "./dom.js";
import { percent } from "./text.js";

/** One line and a bar for each rule on a share, a line for one on a run. */
export function update(list, { state, counts, limits }) {
  const rules = [
    ["failures", counts.failures, limits.failure_ratio],
    ["timeouts", counts.timeouts, limits.timeout_ratio],
    [`calls over ${limits.slow_call_ms} ms`, counts.slow, limits.slow_ratio],
  ].filter(([, , limit]) => limit !== null);
  if (limits.consecutive_failures !== null) rules.push([`opens at ${limits.consecutive_failures} failures in a row`]);
  const records = isRecorded(state);
  keep(list, rules, ([name]) => name, create, (item, [name, count, limit]) => {
    if (limit === undefined) return;
    const [now, bound, bar] = item.children;
    const share = counts.samples === 0 ? 0 : count / counts.samples;
    write(now, `${name}: ${count} of ${counts.samples} (${percent(share)})`);
    const enough = !records || counts.samples >= limits.min_calls;
    write(bound, `limit ${percent(limit)}${enough ? "" : ` from ${limits.min_calls} calls on`}`);
    bar.style.setProperty("--share", `${share * 100}%`);
    bar.style.setProperty("--limit", `${limit * 100}%`);
    mark(bar, "data-over", enough && share >= limit);
  });
}

/** Whether outcomes enter the window in this state; in the others there is none to show. */
export function isRecorded(state) {
  return state === "closed" || state === "observe-only";
}

function create([name, , limit]) {
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
