"""The demo's fake provider, which speaks all dialects, as a process of its own."""

import json
import os
import subprocess

BINARY = os.environ["CUTOUT_FAKE"]


class Fake:
    def __init__(self):
        self._process = subprocess.Popen([BINARY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.base_url = self._process.stdout.readline().strip() + "/v1"

    def set(self, mood):
        assert self._say(mood) == "ok", mood

    @property
    def seen(self):
        """The last request, and how many there were."""
        return json.loads(self._say("seen"))

    def _say(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def close(self):
        """Nothing listens there any more."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
