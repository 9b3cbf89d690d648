// Asking an operator why, and doing it. The dialog says what will happen, to this breaker and to
// the routes behind it; nothing happens by a stray key: the first focus is on Cancel, and Enter
// in a field leads to the button that acts and does not press it.

import { path, post } from "./api.js";
import { mark, write } from "./dom.js";
import { orphans } from "./health.js";
import { listed } from "./text.js";

/** What can be done to a breaker, in the order of the buttons. */
export const ACTIONS = [
  {
    name: "force_open", label: "Force open", hint: "reject all calls", timed: true,
    act: (name) => `Reject all calls to ${name}`,
    effect: (name, alone) => `No call reaches ${name} any more; those in flight end by themselves.`
      + (alone.length > 0
        ? ` Nobody else is left for ${listed(alone)}: its requests will fail.`
        : " Other providers take its place."),
  },
  {
    name: "close", label: "Close", hint: "admit calls again",
    act: (name) => `Admit calls to ${name} again`,
    effect: (name) => `All calls that come to ${name} reach it at once, ill or not. Its window starts empty and its rules hold: `
      + "it trips again by itself when they are met. What an operator set before ends.",
  },
  {
    name: "disable", label: "Disable", hint: "switch protection off",
    act: (name) => `Switch the breaker of ${name} off`,
    effect: (name) => `All calls reach ${name}, however it fails, and nothing is recorded: nobody is protected from it `
      + "until an operator presses Close.",
  },
  {
    name: "observe_only", label: "Observe only", hint: "record, never reject",
    act: (name) => `Only observe ${name}`,
    effect: (name) => `All calls reach ${name}, however it fails. They are recorded, and the transitions say when it would have opened.`,
  },
];

const dialog = document.getElementById("operate");
const form = dialog.querySelector("form");
const error = document.getElementById("operate-error");
const submit = document.getElementById("operate-submit");
let pending = null;
let latest = null;

/** Keeps the dialog true while it is open: what is said is about the state of now. */
export function show(state) {
  latest = state;
  if (!dialog.open) return;
  const { action, breaker } = pending;
  const now = state.breakers.find(({ name }) => name === breaker);
  write(document.getElementById("operate-now"), now ? `It is ${now.state} now.` : "It is no longer configured.");
  write(document.getElementById("operate-effect"), action.effect(breaker, orphans(state, breaker)));
}

/** Opens the dialog for one action on one breaker. The browser gives the focus back when it closes. */
export function ask(action, breaker) {
  pending = { action, breaker };
  form.reset();
  write(error, "");
  write(document.getElementById("operate-title"), `${action.label}: ${breaker}`);
  write(submit, action.act(breaker));
  document.getElementById("operate-time").hidden = !action.timed;
  mark(form.elements.seconds, "disabled", action.timed ? null : "");
  mark(dialog, "data-action", action.name);
  dialog.showModal();
  if (latest) show(latest);
  dialog.querySelector("[data-cancel]").focus();
}

dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());

form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.target.tagName !== "INPUT" || event.isComposing) return;
  event.preventDefault();
  if (form.reportValidity()) submit.focus();
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { action, breaker } = pending;
  const body = { reason: form.elements.reason.value };
  if (action.timed && form.elements.seconds.value !== "") {
    body.seconds = form.elements.seconds.valueAsNumber;
  }
  submit.disabled = true;
  write(error, "");
  try {
    await post(path("breakers", breaker, action.name), body);
    dialog.close();
  } catch (problem) {
    write(error, `Not done: ${problem.message}`);
  } finally {
    submit.disabled = false;
  }
});
