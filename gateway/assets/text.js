// Words: text from outside made harmless, and numbers and times that fit a label.

// Controls, separators of lines, and marks that turn the direction of the text after them.
// Joiners stay: some scripts are not written without them.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The text with each sign that cannot be seen but acts written out, as in `<U+202E>`. */
export function plain(text) {
  return String(text).replace(UNSEEN, (sign) =>
    `<U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
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
  return unbroken(text());
}

/** How long ago, roughly: it is read beside an exact time. */
export function ago(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds >= 172800) return unbroken(`${Math.floor(seconds / 86400)} days`);
  if (seconds >= 3600) return unbroken(`${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`);
  return unbroken(seconds >= 60 ? `${Math.floor(seconds / 60)} min` : `${seconds} s`);
}

/** A time of day, with the date if that is another than today's. */
export function moment(ms, now = Date.now()) {
  const at = new Date(ms);
  const isToday = at.toDateString() === new Date(now).toDateString();
  return isToday ? at.toLocaleTimeString() : at.toLocaleString();
}

export function percent(share) {
  return `${(share * 100).toLocaleString(undefined, { maximumFractionDigits: 1 })}\u00a0%`;
}

/** Names as in "a, b and 3 more". */
export function listed(names, most = 4) {
  if (names.length <= most) return names.join(", ");
  return `${names.slice(0, most - 1).join(", ")} and ${names.length - most + 1} more`;
}

export function unbroken(text) {
  return text.replaceAll(" ", "\u00a0");
}
