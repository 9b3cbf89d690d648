// The replicas: who lives, who has found a provider ill, who probes it.

import { keep, make, write } from "./dom.js";

/** What opens a breaker that has seen nothing itself. */
const BY_OTHERS = "told by peers";

/** Shows a row for each replica, this one first; the section is there if there are any. */
export function show(section, { fleet, breakers }) {
  section.hidden = fleet === null;
  if (fleet === null) return;
  write(section.querySelector("[data-link]"), link(fleet));
  const mine = {
    name: fleet.member,
    heard: "this one",
    tripped: breakers.filter(({ trip }) => trip && trip.cause !== BY_OTHERS).map(({ name }) => name),
    probing: fleet.probing,
  };
  const others = fleet.members.map(({ name, heard_ms, breakers: told }) => ({
    name,
    heard: `${(heard_ms / 1000).toFixed(1)} s ago`,
    tripped: told.filter((one) => one.tripped).map((one) => one.name),
    probing: told.filter((one) => one.state === "probing").map((one) => one.name),
  }));
  keep(section.querySelector("tbody"), [mine, ...others], ({ name }) => name,
    () => make("tr", {}, make("th", { scope: "row" }), ...Array.from({ length: 3 }, () => make("td"))),
    (node, { name, heard, tripped, probing }) => {
      const texts = [name, heard, tripped.join(", ") || "–", probing.join(", ") || "–"];
      texts.forEach((text, index) => write(node.children[index], text));
    });
}

function link({ connected, trouble, takeovers, members }) {
  const from = `${members.length + 1} live; ${takeovers} openings taken over here`;
  if (connected) return from;
  return `Not connected: each replica acts by itself${trouble ? ` (${trouble})` : ""}. ${from}`;
}
