#!/usr/bin/python3
"""Changes one GPU and its instances at random, or the node's default memory, until SIGTERM, while cgpud is killed and the power of
its disk fails. What cgpud has acknowledged, or shown, is there ever after; the change under way at the cut is made or not.
usage: changer.py GPU_INDEX|node SEED
The last line says how many calls were made; exit status 1: something was lost, or is wrong.
"""
import os
import pathlib
import random
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bus_soak"))

import client as soak  # noqa: E402
from client import MANAGER, Gone  # noqa: E402
from model import MIB  # noqa: E402

ended = False


def end(*_):
    global ended
    ended = True


class Cautious(soak.Caller):
    """The node never goes back: what it shows is on the disk."""
    generation = 0

    def describe(self):
        node = super().describe()
        if node["generation"] < self.generation:
            sys.exit(f"the generation was {self.generation} and is {node['generation']}")
        self.generation = node["generation"]
        return node


class Client(Cautious, soak.Client):
    def run(self):
        while not ended:
            count = len(self.gpu.instances)
            steps = [self.change_gpu, self.change_gpu, self.apply, self.forget]
            steps += [self.create] * (3 if count < 4 else 1)
            steps += [self.change_instance, self.change_instance, self.end] if count else []
            self.random.choice(steps)()
            # A change that was lost could be covered by the next one.
            self.expect("what it was told", self.gpu)
        self.expect("what it was told", self.gpu)
        while self.gpu.instances:
            self.end()


class NodeClient(Cautious):
    """Of the settings of the node, which belong to no GPU."""
    def read(self):
        node = self.describe()
        return node["default_memory_bytes"], node["default_memory_source"]

    def run(self):
        before = self.read()
        while not ended:
            size = self.random.randint(1, 9000) * MIB
            after = (size, "set")
            try:
                self.call(MANAGER, "Manager", "SetDefaultMemory", "(ta{sv})", size, {})
                self.answers["done"] += 1
                allowed = [after]
            except Gone:
                self.answers["none"] += 1
                allowed = [before, after]
            now = self.read()
            if now not in allowed:
                sys.exit(f"the default memory is {now} and not " + " or ".join(map(str, allowed)))
            before = now


def main(which, seed):
    signal.signal(signal.SIGTERM, end)
    client = NodeClient(which, seed) if which == "node" else Client(int(which), seed)
    print("begun", flush=True)
    client.run()
    print(f"{which}: {client.calls} calls, " + ", ".join(f"{name} {count}" for name, count in sorted(client.answers.items())))


os.nice(5)
main(*sys.argv[1:])
