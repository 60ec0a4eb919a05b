"""A program under test, alone or under `cgpuctl run`."""
import os
import re
import signal
import subprocess
import time


class Failed(Exception):
    """The row did not run as expected, so it did not hold; the text says what was seen."""


class Job:
    """What it prints goes to a file; programs here print lines `KEY VALUE`, and `ready` when they are at work."""

    def __init__(self, command, environment, output):
        self._path = output
        self.command = command
        with open(output, "wb") as file:
            self._process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=file,
                                             stderr=subprocess.STDOUT, start_new_session=True)
        self.pid = self._process.pid

    def output(self):
        with open(self._path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def facts(self, key):
        return re.findall(rf"^{re.escape(key)} (.*)$", self.output(), re.MULTILINE)

    def fact(self, key):
        """Return the last one. Failed: there is none."""
        found = self.facts(key)
        if not found:
            raise Failed(f"it said no {key!r}, but: {self.last_words()}")
        return found[-1]

    def number(self, key):
        return int(self.fact(key))

    def last_words(self):
        return " / ".join(self.output().strip().splitlines()[-3:])[-300:] or "nothing"

    def runs(self):
        return self._process.poll() is None

    def wait_for(self, key, seconds):
        """Wait until it has printed a line that begins with the word."""
        deadline = time.monotonic() + seconds
        while not re.search(rf"^{re.escape(key)}\b", self.output(), re.MULTILINE):
            if not self.runs():
                raise Failed(f"it ended with status {self._process.returncode}: {self.last_words()}")
            if time.monotonic() > deadline:
                raise Failed(f"no {key!r} within {seconds} s: {self.last_words()}")
            time.sleep(0.02)

    def wait(self, seconds):
        """Return its exit status (minus the signal's number where one ended it)."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"it did not end within {seconds} s: {self.last_words()}") from None

    def signal(self, number):
        if self.runs():
            self._process.send_signal(number)

    def end(self):
        """Ask it to end, then kill it and what it started."""
        self.signal(signal.SIGTERM)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def kill(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
