// Small steps on the document. Text from outside only ever becomes text, and text that can be seen.

import { plain } from "./text.js";

/** A new element: `make("p", { class: "note" }, "text", other)`. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, plain(value));
  }
  element.append(...children.map((child) => typeof child === "string" ? plain(child) : child));
  return element;
}

/** Sets a text, leaving the document alone when it is the same: a screen reader would read it again. */
export function write(element, text) {
  const shown = plain(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** Sets or removes an attribute, if it is another. */
export function mark(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== plain(value)) element.setAttribute(name, plain(value));
}

/**
 * Makes `parent` hold one node for each item, in order. Nodes are kept by key and
 * updated in place, so that focus, selection and open details stay where they are.
 */
export function keep(parent, items, key, create, update) {
  const focused = document.activeElement;
  const old = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  let next = parent.firstElementChild;
  for (const item of items) {
    const name = key(item);
    let node = old.get(name);
    if (node) {
      old.delete(name);
    } else {
      node = create(item);
      node.dataset.key = name;
    }
    update(node, item);
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
  for (const node of old.values()) node.remove();
  // A node that was moved has lost it.
  if (focused !== document.activeElement && focused?.isConnected) focused.focus();
}

/** Shows the note about an empty list, or hides it. */
export function noteEmpty(name, isEmpty) {
  document.querySelector(`[data-empty="${name}"]`).hidden = !isEmpty;
}
