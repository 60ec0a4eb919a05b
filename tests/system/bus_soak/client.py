#!/usr/bin/python3
"""Makes random calls of org.cgpu1 that change one GPU and its instances, and compares each answer and the node with a model, also
while cgpud is killed: a call without an answer was carried out or not, and nothing in between.
usage: client.py GPU_INDEX CALLS SEED
Nobody else may change that GPU. The last line says how many calls were made; exit status 1: something is wrong.
"""
import collections
import copy
import json
import os
import random
import subprocess
import sys
import time

from gi.repository import Gio, GLib

from model import MIB, POLICIES, Instance, described

SERVICE = "org.cgpu1"
MANAGER = "/org/cgpu1"
OURS = "org.cgpu1.Error."
PATIENCE = 30  # seconds


class Gone(Exception):
    """cgpud doesn't answer: the call may have been carried out."""


class Caller:
    def __init__(self, name, seed):
        self.random = random.Random(f"{seed}/{name}")
        self.bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
        self.calls = 0
        self.answers = collections.Counter()

    def call(self, path, interface, method, signature, *arguments):
        """Returns the results. Raises Gone, or KeyError with the name of cgpud's error and its text."""
        self.calls += 1
        try:
            answer = self.bus.call_sync(SERVICE, path, f"org.cgpu1.{interface}", method, GLib.Variant(signature, arguments),
                                        None, Gio.DBusCallFlags.NONE, PATIENCE * 1000, None)
        except GLib.Error as error:
            name = Gio.DBusError.get_remote_error(error) or ""
            if name.startswith(OURS):
                raise KeyError(name.removeprefix(OURS), error.message) from None
            if name == "org.freedesktop.DBus.Error.UnknownObject":
                raise KeyError("NotFound", error.message) from None
            raise Gone(error.message) from None
        return answer.unpack()

    def describe(self):
        """The node as cgpud describes it, as soon as there is one."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                text, = self.call(MANAGER, "Manager", "Describe", "()")
                return json.loads(text)
            except Gone:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)


class Client(Caller):
    def __init__(self, index, seed):
        super().__init__(index, seed)
        self.index = index
        self.names = [f"soak{index}-{letter}" for letter in "abc"]
        self.children = {}  # processes by instance
        self.path, = self.call(MANAGER, "Manager", "FindGpu", "(s)", str(index))
        self.gpu = self.read()

    def read(self):
        """The state of the GPU."""
        return described(self.describe(), self.index, self.names)

    def expect(self, what, *allowed):
        """The node is in one of these states."""
        now = self.read()
        if now not in allowed:
            sys.exit(f"GPU {self.index}: {what}: it is\n{now}\nand not\n" + "\nor\n".join(map(str, allowed)))
        self.gpu = now

    def change(self, what, path, interface, method, signature, arguments, after, errors):
        """A call that leads to `after`, or is refused with one of the errors."""
        before = self.gpu
        try:
            result = self.call(path, interface, method, signature, *arguments)
        except Gone:
            self.answers["none"] += 1
            self.expect(f"{what}, without an answer", *([before] if errors else [before, after]))
            return None
        except KeyError as error:
            name, text = error.args
            self.answers[name] += 1
            # Something that is ending may be in the way.
            if name not in errors and not (name == "TryAgain" and errors):
                sys.exit(f"GPU {self.index}: {what} was refused with {name} ({text}), expected: {errors or 'no error'}\n{before}")
            if ". Try: " not in text and "Unknown object" not in text:
                sys.exit(f"GPU {self.index}: {what}: no remedy in: {text}")
            return None
        self.answers["done"] += 1
        if errors:
            sys.exit(f"GPU {self.index}: {what} was done, expected one of {errors}\n{before}")
        self.gpu = after
        return result

    # The calls.

    def options(self, after, errors, more=None):
        """Options of a change, with what they do to its result."""
        choice = self.random.random()
        options = {key: GLib.Variant("b", value) for key, value in (more or {}).items()}
        if choice < 0.08:
            return options | {"dry-run": GLib.Variant("b", True)}, self.gpu, errors
        if choice < 0.11:
            return options | {"if-generation": GLib.Variant("t", 1)}, self.gpu, {"Changed"}
        if choice < 0.13:
            return options | {"frobnicate": GLib.Variant("u", 1)}, self.gpu, {"Invalid"}
        return options, after, errors

    def change_gpu(self):
        kind, method, signature, value = self.random.choice([
            ("policy", "SetPolicy", "s", self.random.choice(POLICIES)),
            ("max_inst", "SetMaxInst", "u", self.random.randint(0, 27)),
            ("prio_ratio", "SetPrioRatio", "u", self.random.randint(15, 101))])
        after = self.gpu.with_changes([(kind, None, value)])
        options, after, errors = self.options(after, after.faults())
        self.change(f"{method} {value}", self.path, "Gpu", method, f"({signature}a{{sv}})", (value, options), after, errors)

    def change_instance(self):
        identity = self.random.choice(list(self.gpu.instances))
        kind, method, signature, value = self.random.choice([
            ("weight", "SetWeight", "u", self.random.randint(1, 27)),
            ("memory", "SetMemory", "t", self.random.randint(0, 9000) * MIB),
            ("high", "SetHighPriority", "b", self.random.random() < 0.5)])
        changes = [(kind, identity, value)]
        after = self.gpu.with_changes(changes)
        persist = self.random.random() < 0.2
        if persist:
            after.keep(identity, changes)
        options, after, errors = self.options(after, after.faults(), {"persist": True} if persist else None)
        self.change(f"{method} {value} for {identity}", f"{MANAGER}/instance/{identity}", "Instance", method,
                    f"(s{signature}a{{sv}})", ("", value, options), after, errors)

    def apply(self):
        keys = {"policy": ("policy", "s"), "max_inst": ("max-inst", "u"), "prio_ratio": ("prio-ratio", "u"),
                "weight": ("weight", "u"), "memory": ("memory-limit", "t"), "high": ("high-priority", "b")}
        changes = {}
        for _ in range(self.random.randint(1, 5)):
            target = self.random.choice([None, *self.gpu.instances])
            kind, value = self.random.choice(
                [("policy", self.random.choice(POLICIES)), ("max_inst", self.random.randint(5, 25)),
                 ("prio_ratio", self.random.randint(20, 99))] if target is None else
                [("weight", self.random.randint(1, 9)), ("memory", self.random.randint(1, 5000) * MIB), ("high", True)])
            changes[kind, target] = value
        listed = [(kind, target, value) for (kind, target), value in changes.items()]
        sent = []
        for kind, target, value in listed:
            key, signature = keys[kind]
            where = {"gpu": GLib.Variant("s", str(self.index))} if target is None else {"instance": GLib.Variant("s", target)}
            sent.append(where | {key: GLib.Variant(signature, value)})
        after = self.gpu.with_changes(listed)
        options, after, errors = self.options(after, after.faults())
        self.change(f"Apply {listed}", MANAGER, "Manager", "Apply", "(aa{sv}a{sv})", (sent, options), after, errors)

    def create(self):
        identity = f"c{self.random.getrandbits(120):030x}"
        name = self.random.choice(self.names)
        kept = self.gpu.kept.get(name, {})
        asked = {"memory": self.random.randint(1, 4000) * MIB, "weight": self.random.randint(1, 6)} | kept
        variables = {"CGPU_MEM": f"{asked['memory'] // MIB}MiB", "CGPU_WEIGHT": str(asked["weight"]), "CGPU_GPUS": str(self.index)}
        after = copy.deepcopy(self.gpu)
        after.instances[identity] = Instance(name, asked["memory"], asked["weight"], asked.get("high", False))
        errors = after.faults()
        if errors & {"Invalid", "NoSpace"}:
            return  # how much less weight than it asks for it may get is admission's own business
        errors -= {"Busy"}
        self.change(f"CreateInstance {variables} for {name}", MANAGER, "Manager", "CreateInstance", "(ssa{ss}a{sv})",
                    (identity, name, variables, {}), after, errors)
        if identity in self.gpu.instances:
            self.attach(identity)

    def attach(self, identity):
        child = subprocess.Popen(["sleep", "infinity"])
        self.children[identity] = child
        end = time.monotonic() + PATIENCE
        while not self.gpu.instances[identity].attached:
            if time.monotonic() > end:
                sys.exit(f"GPU {self.index}: {identity} can't be attached")
            after = copy.deepcopy(self.gpu)
            after.instances[identity].attached = True
            self.change(f"Attach {identity}", MANAGER, "Manager", "Attach", "(sua{sv})", (identity, child.pid, {}), after, set())

    def end(self):
        """By the end of its process, or by a call."""
        identity = self.random.choice(list(self.gpu.instances))
        after = copy.deepcopy(self.gpu)
        del after.instances[identity]
        child = self.children.pop(identity)
        if self.random.random() < 0.5:
            self.change(f"ReleaseInstance {identity}", MANAGER, "Manager", "ReleaseInstance", "(sa{sv})", (identity, {}), after,
                        set())
        child.kill()
        child.wait()
        end = time.monotonic() + PATIENCE
        while self.gpu != after:
            if time.monotonic() > end:
                sys.exit(f"GPU {self.index}: {identity} stays without a process\n{self.gpu}")
            self.expect(f"the end of {identity}", self.gpu, after)

    def forget(self):
        name = self.random.choice(self.names)
        after = copy.deepcopy(self.gpu)
        errors = set() if after.kept.pop(name, None) else {"NotFound"}
        options, after, errors = self.options(after, errors)
        self.change(f"Forget {name}", MANAGER, "Manager", "Forget", "(sa{sv})", (name, options), after, errors)

    def read_something(self):
        try:
            if self.random.random() < 0.5:
                self.call(self.path, "Gpu", "GetUsage", "()")
            elif self.gpu.instances:
                identity = self.random.choice(list(self.gpu.instances))
                usage, = self.call(f"{MANAGER}/instance/{identity}", "Instance", "GetUsage", "()")
                limit = next(iter(usage.values()))["memory-limit"]
                if limit != self.gpu.instances[identity].memory:
                    sys.exit(f"GPU {self.index}: {identity} has a limit of {limit}\n{self.gpu}")
        except Gone:
            pass

    def unknown(self):
        self.change("SetWeight of nobody", f"{MANAGER}/instance/c0000", "Instance", "SetWeight", "(sua{sv})", ("", 1, {}), self.gpu,
                    {"NotFound"})

    def run(self, calls):
        end = self.calls + calls
        while self.calls < end:
            count = len(self.gpu.instances)
            steps = [self.change_gpu, self.change_gpu, self.apply, self.read_something, self.read_something, self.forget,
                     self.unknown]
            steps += [self.create] * (3 if count < 5 else 1)
            steps += [self.change_instance, self.change_instance, self.change_instance, self.apply, self.end] if count else []
            self.random.choice(steps)()
            if self.random.random() < 0.3:
                self.expect("what it was told", self.gpu)
        self.expect("what it was told", self.gpu)
        while self.gpu.instances:
            self.end()


def main(index, calls, seed):
    client = Client(int(index), seed)
    client.run(int(calls))
    print(f"GPU {index}: {client.calls} calls, " + ", ".join(f"{name} {count}" for name, count in sorted(client.answers.items())))


if __name__ == "__main__":
    os.nice(5)
    main(*sys.argv[1:])
