"""What the Python programs share: the lines `KEY VALUE`."""
import time


def say(key, value):
    print(key, value, flush=True)


def hold():
    """Wait until SIGTERM ends the process."""
    say("ready", "")
    while True:
        time.sleep(1)
