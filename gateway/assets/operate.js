// Asking an operator why, and doing it.

import { path, post } from "./api.js";
import { mark, write } from "./dom.js";

/** What can be done to a breaker, in the order of the buttons. */
export const ACTIONS = [
  { name: "force_open", label: "Force open", effect: "Rejects all calls.", timed: true },
  { name: "close", label: "Close", effect: "Admits calls and starts with an empty window; ends what an operator set before." },
  { name: "disable", label: "Disable", effect: "Admits all calls and records nothing." },
  { name: "observe_only", label: "Observe only", effect: "Admits all calls, records them, and reports what would have opened it." },
];

const dialog = document.getElementById("operate");
const form = dialog.querySelector("form");
const error = document.getElementById("operate-error");
const submit = document.getElementById("operate-submit");
let pending = null;

/** Opens the dialog for one action on one breaker. The browser gives the focus back when it closes. */
export function ask(action, breaker) {
  pending = { action, breaker };
  form.reset();
  write(error, "");
  write(document.getElementById("operate-title"), `${action.label}: ${breaker}`);
  write(document.getElementById("operate-effect"), action.effect);
  write(submit, action.label);
  document.getElementById("operate-time").hidden = !action.timed;
  mark(form.elements.seconds, "disabled", action.timed ? null : "");
  dialog.showModal();
  (action.timed ? form.elements.seconds : form.elements.reason).focus();
}

dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());

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
