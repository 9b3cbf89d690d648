// Small steps on the document. Text from outside only ever becomes text.

/** A new element: `make("p", { class: "note" }, "text", other)`. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Sets a text, leaving the document alone when it is the same: a screen reader would read it again. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets or removes an attribute, if it is another. */
export function mark(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
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

/** A duration in words that fit a label, not broken over two lines. */
export function duration(ms) {
  const seconds = ms / 1000;
  const text = () => {
    if (seconds >= 1e9) return "for ever";
    if (seconds >= 86400) return `${(seconds / 86400).toFixed(1)} d`;
    if (seconds >= 3600) return `${(seconds / 3600).toFixed(1)} h`;
    if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
    return seconds >= 10 || seconds === 0 ? `${Math.round(seconds)} s` : `${seconds.toFixed(1)} s`;
  };
  return text().replaceAll(" ", "\u00a0");
}
