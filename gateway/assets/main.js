// The page: follows the gateway's events and shows what they say.

import { follow, setToken } from "./api.js";
import * as breaker from "./breaker.js";
import { keep, make, mark, noteEmpty, write } from "./dom.js";
import * as fleet from "./fleet.js";
import { noteSuspensions, verdict } from "./health.js";
import * as operate from "./operate.js";
import * as queue from "./queue.js";
import * as spent from "./spent.js";
import { plain } from "./text.js";
import * as timeline from "./timeline.js";

const at = Object.fromEntries(
  ["connection", "short", "verdict", "trouble", "restart", "facts", "breakers", "routes", "timeline", "announcer", "login", "older",
    "older-result", "spent", "fleet"]
    .map((id) => [id, document.getElementById(id)]));

const FIRST_RETRY = 500;
const LONGEST_RETRY = 10000;

let startedMs = null;
let lastState = null;

function handle(name, data) {
  if (name === "state") showState(data);
  else if (name === "transition") announce(timeline.add([data]));
}

function showState(state) {
  const receivedAt = performance.now();
  if (startedMs !== state.started_ms) timeline.clear();
  const isFirst = startedMs !== state.started_ms;
  startedMs = state.started_ms;
  lastState = new Date(state.now_ms);
  noteSuspensions(state);
  showVerdict(verdict(state));
  breaker.show(at.breakers, state, receivedAt);
  noteEmpty("breakers", state.breakers.length === 0);
  operate.show(state);
  queue.show(at.routes, state);
  noteEmpty("routes", state.routes.length === 0);
  spent.show(at.spent, state);
  fleet.show(at.fleet, state);
  const fresh = timeline.add(state.transitions);
  announce(isFirst ? [] : fresh);
  showFacts(state);
  setConnection("live");
}

/** The line on top, and in the tab's title. */
function showVerdict({ level, parts, title }) {
  mark(document.body, "data-level", level);
  keep(at.verdict, parts.map((part) => `${part} `), (part) => part, (part) => make("span", {}, part), () => {});
  write(at.short, title);
  nameTab(title);
}

function nameTab(text) {
  const title = plain(`${text} · cutout gateway`);
  if (document.title !== title) document.title = title;
}

/** Puts new transitions on the list, and says the last of them to a screen reader. */
function announce(fresh) {
  noteEmpty("timeline", timeline.show(at.timeline) === 0);
  const last = fresh.at(-1);
  if (!last) return;
  const { what, why } = timeline.describe(last);
  write(at.announcer, `${last.breaker}: ${what}, ${why}`);
}

at.older.addEventListener("click", async () => {
  write(at["older-result"], "");
  try {
    const count = await timeline.fetchOlder();
    announce([]);
    write(at["older-result"], count === 0 ? "there are no older ones" : `${count} more`);
  } catch (problem) {
    write(at["older-result"], problem.message);
  }
});

function showFacts(state) {
  const facts = [
    ["configuration", state.version],
    ["running since", new Date(state.started_ms).toLocaleString()],
    ["database", storeText(state.store)],
  ];
  keep(at.facts, facts, ([name]) => name,
    ([name]) => make("div", {}, make("dt", {}, name), make("dd")),
    (node, [, value]) => write(node.lastElementChild, value));
  at.older.parentElement.hidden = !state.store.path;
  const restart = state.needs_restart.join(", ");
  write(at.restart, `In the file, but in force only after a restart: ${restart}.`);
  at.restart.hidden = restart === "";
  const trouble = [
    state.problem && `The configuration file was refused and the one before is in force: ${state.problem}.`,
    state.store.problem && `Nothing is being saved: ${state.store.problem}.`,
  ].filter(Boolean).join(" ");
  write(at.trouble, trouble);
  at.trouble.hidden = trouble === "";
}

function storeText({ path, problem, lost_transitions }) {
  if (problem) return "failed";
  if (!path) return "none";
  return lost_transitions > 0 ? `${path}, ${lost_transitions} transitions lost` : path;
}

function setConnection(text) {
  write(at.connection, text);
  document.body.dataset.connection = text === "live" ? "live" : "lost";
}

/** Says that nobody answers, and how old is what the page shows. */
function showGone(why) {
  const since = lastState === null ? "" : `; what is shown is of ${lastState.toLocaleTimeString()}`;
  setConnection(`not connected (${why})${since}`);
  nameTab("✕ gateway gone");
}

/** Asks for the admin token until one is given. */
function askToken(message) {
  const form = at.login.querySelector("form");
  write(document.getElementById("login-error"), message);
  if (!at.login.open) at.login.showModal();
  return new Promise((resolve) => {
    form.addEventListener("submit", () => {
      setToken(form.elements.token.value);
      form.reset();
      resolve();
    }, { once: true });
  });
}

// Without a token there is nothing to see: it cannot be closed.
at.login.addEventListener("cancel", (event) => event.preventDefault());

async function run() {
  let retry = FIRST_RETRY;
  let refusedBefore = false;
  for (;;) {
    try {
      await follow((name, data) => {
        retry = FIRST_RETRY;
        handle(name, data);
      });
    } catch (problem) {
      if (problem.status === 401) {
        setConnection("waiting for the admin token");
        await askToken(refusedBefore ? "This token was refused." : "");
        refusedBefore = true;
        continue;
      }
      showGone(problem.message);
      await new Promise((resolve) => setTimeout(resolve, retry));
      retry = Math.min(retry * 2, LONGEST_RETRY);
    }
  }
}

setInterval(() => {
  for (const card of at.breakers.children) breaker.tick(card);
}, 250);

run();
