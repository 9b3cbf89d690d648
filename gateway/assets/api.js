// Talking to the gateway: calls, and the stream of its state.

const TOKEN = "admin-token";

/** After so many milliseconds without an event the stream counts as dead. */
const SILENCE = 5000;

/** An answer that is not the one wished for. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

// The address that the gateway prints at its start carries the token, behind the `#`: that part is sent to nobody. It is taken
// out of the address bar, so that it is not copied along.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return false;
  setToken(given);
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

takeToken();
addEventListener("hashchange", () => {
  if (takeToken()) location.reload();
});

function headers(more) {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { ...more, authorization: `Bearer ${token}` } : more;
}

/** What is wrong with an answer, in its own words if it has any. */
async function refusal(response) {
  let message = `the gateway answered ${response.status}`;
  try {
    message = (await response.json()).error.message ?? message;
  } catch {
    // No error in the gateway's shape: the status has to do.
  }
  return new Refused(response.status, message);
}

/** Sends a change and gives the answer. Throws `Refused`, or the browser's error. */
export async function post(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: headers({ "content-type": "application/json" }),
    body: JSON.stringify(body),
  });
  if (!response.ok) throw await refusal(response);
  return response.json();
}

/** Asks for something. Throws as `post` does. */
export async function get(path) {
  const response = await fetch(path, { headers: headers({}) });
  if (!response.ok) throw await refusal(response);
  return response.json();
}

/** A path to an action on something with a name. */
export function path(kind, name, action) {
  return `admin/${kind}/${encodeURIComponent(name)}/${action}`;
}

/**
 * Reads the gateway's events until the connection ends, which it reports by
 * throwing. The browser's own EventSource cannot send a token.
 */
export async function follow(handle) {
  const abort = new AbortController();
  let watchdog;
  const alive = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => abort.abort(new Error("no word from the gateway")), SILENCE);
  };
  alive();
  try {
    const response = await fetch("admin/events", {
      headers: headers({ accept: "text/event-stream" }),
      signal: abort.signal,
    });
    if (!response.ok) throw await refusal(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the gateway ended the connection");
      alive();
      const events = (text + value).split("\n\n");
      text = events.pop();
      for (const event of events) dispatch(event, handle);
    }
  } finally {
    clearTimeout(watchdog);
    abort.abort();
  }
}

function dispatch(event, handle) {
  let name = "message";
  let data = "";
  for (const line of event.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (data) handle(name, JSON.parse(data));
}
