"""A fake provider on a real socket, whose behaviour a test sets while it runs."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Provider:
    """Answers like an OpenAI-compatible server, or fails as `behaviour` says.

    `behaviour` is "ok", an HTTP status, "cut" (streams end in the middle), "numbered" (events of streams have ids, with comments
    and events without data between them), "hold" (streams send one piece
    and then nothing until `release` is set), or "hang" (nothing at all until `release` is set).
    """

    def __init__(self):
        self.behaviour = "ok"
        self.retry_after = None
        self.requests = []
        self.release = threading.Event()
        self.client_gone = threading.Event()
        owner = self

        class Handler(_Handler):
            provider = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self):
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.provider.requests.append({"path": self.path, "headers": dict(self.headers), "body": body})
        behaviour = self.provider.behaviour
        if behaviour == "hang":
            self.provider.release.wait()
            self.close_connection = True
        elif isinstance(behaviour, int):
            self.refuse(behaviour)
        elif self.path == "/v1/embeddings":
            self.answer({
                "object": "list",
                "model": body["model"],
                "data": [{"object": "embedding", "index": 0, "embedding": [0.25, -0.5]}],
                "usage": {"prompt_tokens": 1, "total_tokens": 1},
            })
        elif body.get("stream"):
            self.stream(body["model"], behaviour)
        else:
            message = {"role": "assistant", "content": "Hello there"}
            self.answer(completion(body["model"], "chat.completion", message=message, finish_reason="stop"))

    def refuse(self, status):
        self.answer({"error": {"message": f"refused with {status}", "type": "test", "code": None}}, status)

    def answer(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if self.provider.retry_after and status != 200:
            self.send_header("retry-after", str(self.provider.retry_after))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, model, behaviour):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            if behaviour == "numbered":
                self.chunk(b"event: ping\ndata: \n\nid: 7\n")
            self.piece(model, {"role": "assistant", "content": "Hello"})
            if behaviour == "numbered":
                self.chunk(b": waiting\n\n")
            if behaviour == "cut":
                self.close_connection = True
                return
            while behaviour == "hold" and not self.provider.release.wait(0.02):
                # Only a write tells that the other end has gone.
                self.chunk(b": waiting\n\n")
            self.piece(model, {"content": " there"})
            self.piece(model, {}, finish_reason="stop")
            self.chunk(b"data: [DONE]\n\n")
            self.chunk(b"")
        except OSError:
            self.provider.client_gone.set()
            self.close_connection = True

    def piece(self, model, delta, finish_reason=None):
        value = completion(model, "chat.completion.chunk", delta=delta, finish_reason=finish_reason)
        self.chunk(f"data: {json.dumps(value)}\n\n".encode())

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def completion(model, kind, **choice):
    return {
        "id": "chatcmpl-1",
        "object": kind,
        "created": 1,
        "model": model,
        "choices": [{"index": 0, **choice}],
    }
