"""A gateway as a process of its own, with a configuration of the test's."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

#: How long anything may take before the test gives up on it.
PATIENCE = 20

BINARY = os.environ["CUTOUT_GATEWAY"]

#: The admin token, unless a test's configuration names another.
TOKEN = "the-operators"


class Gateway:
    def __init__(self, folder, config, listen="127.0.0.1:0", env=None):
        """With `config` as its configuration, or the demo without one."""
        self.folder = folder
        arguments = ["--demo", "--listen", listen]
        if config is not None:
            path = folder / "gateway.toml"
            # A token of the configuration outlives the process; the one made at the start does not.
            token = "" if "admin_token" in config else 'admin_token = { env = "CUTOUT_ADMIN_TOKEN" }\n'
            path.write_text(f'[server]\nlisten = "{listen}"\n{token}{config}')
            arguments = [str(path)]
        self.log = open(folder / "gateway.log", "a")
        self.process = subprocess.Popen(
            [BINARY, *arguments],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env={**os.environ, "CUTOUT_ADMIN_TOKEN": TOKEN, **(env or {})},
        )
        lines = self.process.stdout.readline() + self.process.stdout.readline()
        found = re.search(r"http://([^/\s]+)", lines)
        if not found:
            self.kill()
            raise AssertionError(f"the gateway did not start: {(folder / 'gateway.log').read_text()}")
        self.address = found[1]
        self.url = f"http://{self.address}"
        made = re.search(r"#token=(\S+)", lines)
        self.token = made[1] if made else TOKEN

    def state(self, token=None):
        request = urllib.request.Request(f"{self.url}/admin/state")
        request.add_header("authorization", f"Bearer {token or self.token}")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def operate(self, name, action, reason, **more):
        body = json.dumps({"reason": reason, **more}).encode()
        request = urllib.request.Request(
            f"{self.url}/admin/breakers/{name}/{action}", body,
            {"content-type": "application/json", "authorization": f"Bearer {self.token}"})
        urllib.request.urlopen(request, timeout=PATIENCE).read()

    def breaker(self, name):
        return next(breaker for breaker in self.state()["breakers"] if breaker["name"] == name)

    def until(self, name, condition):
        """Waits until the breaker's state meets the condition, and gives it."""
        return until(lambda: self.breaker(name), condition)

    def kill(self):
        """Ends it as nothing can prepare for."""
        self._end(signal.SIGKILL)

    def stop(self):
        self._end(signal.SIGTERM)

    def _end(self, how):
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.log.close()


def until(read, condition):
    deadline = time.monotonic() + PATIENCE
    while True:
        value = read()
        if condition(value):
            return value
        assert time.monotonic() < deadline, f"still {value}"
        time.sleep(0.01)


def provider(name, base_url, more=""):
    return f'\n[[provider]]\nname = "{name}"\nbase_url = "{base_url}"\nretry = {{ attempts = 1 }}\n{more}\n'


def route(model, *queue):
    entries = ", ".join(f'{{ provider = "{name}" }}' for name in queue)
    return f'\n[[route]]\nmodel = "{model}"\nqueue = [{entries}]\n'


BREAKER = 'breaker = { min_calls = 4, window = { count = 20 }, open_wait = "1h" }'


def ask(gateway, times=1, model="alone"):
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello"}]}).encode()
    for _ in range(times):
        request = urllib.request.Request(f"{gateway.url}/v1/chat/completions", body, {"content-type": "application/json"})
        try:
            urllib.request.urlopen(request, timeout=PATIENCE).read()
        except urllib.error.HTTPError as error:
            error.read()


def trip(gateway, upstream):
    upstream.behaviour = 500
    while gateway.breaker("a")["state"] == "closed":
        ask(gateway)
    gateway.until("a", lambda breaker: breaker["state"] == "open")


def config_of(gateway):
    return (gateway.folder / "gateway.toml").read_text().split("\n", 3)[3]
