// Who used what today: by key, route and target.

import { keep, make, write } from "./dom.js";

const shown = (tokens) => tokens.toLocaleString();

/** Shows a row for each; the section is there once something was used. */
export function show(section, { spent, keys }) {
  section.hidden = spent.length === 0;
  const limits = new Map(keys.map((key) => [key.name, key.tokens_per_day]));
  const sums = new Map();
  for (const { key, tokens_in, tokens_out } of spent) sums.set(key, (sums.get(key) ?? 0) + tokens_in + tokens_out);
  keep(section.querySelector("tbody"), spent, (row) => JSON.stringify([row.key, row.route, row.target]),
    () => make("tr", {}, make("th", { scope: "row" }), ...Array.from({ length: 5 }, () => make("td"))),
    (node, row) => {
      const limit = limits.get(row.key);
      const used = limit ? ` (${Math.round(100 * sums.get(row.key) / limit)} % of its day)` : "";
      const untold = row.untold > 0 ? ` (${shown(row.untold)} told no tokens)` : "";
      const texts = [`${row.key || "no key"}${used}`, row.route, row.target, `${shown(row.requests)}${untold}`,
        shown(row.tokens_in), shown(row.tokens_out)];
      texts.forEach((text, index) => write(node.children[index], text));
    });
}
