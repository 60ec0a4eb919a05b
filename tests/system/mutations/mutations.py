#!/usr/bin/python3
"""Damages a file of cgpud's, starts cgpud, and compares what it serves with what the files said: it serves just that, or it
refuses to start, or its log warns, naming the file. It never hangs, never crashes, and never serves something else in silence.
usage: mutations.py COUNT SEED
cgpud is not running, and its files are there. The last lines count what became of the damage; exit status 1: some is wrong.
"""
import collections
import dataclasses
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import damage
from gi.repository import Gio, GLib

STATE = pathlib.Path("/var/lib/cgpu")
LEASES = pathlib.Path("/run/cgpu/leases")
CONFIGURATION = pathlib.Path("/etc/cgpu")
DROP_IN = CONFIGURATION / "cgpud.yaml.d/more.yaml"
LAB = pathlib.Path(os.environ["CGPU_LAB"])
DEADLINE = 30  # seconds, on a busy machine
WHILE_IT_LASTED = ["--since", "1h", "--until"]  # what the history had when it was copied


@dataclasses.dataclass
class Kind:
    path: pathlib.Path
    share: int  # how many of the damaged files are this one


KINDS = {"state": Kind(STATE / "state.json", 4), "spare": Kind(STATE / ".state.json.spare", 1), "leases": Kind(LEASES, 2), "history": Kind(STATE / "history", 2),
         "configuration": Kind(CONFIGURATION / "cgpud.yaml", 2), "drop-in": Kind(DROP_IN, 1)}


def call(bus, path, interface, method):
    return bus.call_sync("org.cgpu1", path, interface, method, None, None, Gio.DBusCallFlags.NONE, DEADLINE * 1000, None).unpack()


def settings_in(text):
    """What a file says whose lines are `key: value`, or belong to `weights:`. None: it has other lines."""
    found = {}
    inside = ""
    for line in text.split("\n"):
        line = re.sub(r"(^|\s)#.*", "", line).rstrip(" ")
        match = re.fullmatch(r"(  )?([^\s:#'\"]+):(?: ([A-Za-z0-9+-]+))?", line)
        if not line:
            continue
        if not match or (match[1] and not inside) or (not match[3] and match[2] != "weights"):
            return None
        if not match[1]:
            inside = f"{match[2]}." if not match[3] else ""
        if match[3]:
            found[(inside if match[1] else "") + match[2]] = match[3]
    return found


def leaves(value, place=""):
    """Each single value of a tree of them, by its place."""
    if isinstance(value, dict) and value:
        return {name: leaf for key, each in value.items() for name, leaf in leaves(each, f"{place}.{key}").items()}
    if isinstance(value, list) and value:
        return {name: leaf for at, each in enumerate(value) for name, leaf in leaves(each, f"{place}[{at}]").items()}
    return {place: value}


class Node:
    """What a running cgpud serves, as far as it follows from its files."""
    def __init__(self, history_until):
        bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
        node = json.loads(call(bus, "/org/cgpu1", "org.cgpu1.Manager", "Describe")[0])
        values, = call(bus, "/org/cgpu1", "org.cgpu1.Manager", "GetConfiguration")
        self.generation = node["generation"]
        self.settings = {key: node[key] for key in ("mode", "mode_source", "default_memory_bytes", "default_memory_source", "job",
                                                    "kept", "module_version")}
        self.settings["gpus"] = [{key: each[key] for key in ("uuid", "index", "model", "present", "mode", "policy_name", "max_inst",
                                                             "prio_ratio", "memory_total_bytes", "obstacle")}
                                 for each in node["gpus"]]
        self.instances = {
            each["id"]: [each["name"], each["pid"], each["state"], each["created_seconds"], each["image"]] +
            [[gpu[key] for key in ("index", "memory_limit_bytes", "weight", "asked_share", "high_priority")] for gpu in each["gpus"]]
            for each in node["instances"]}
        self.memory = {each["id"]: [[gpu[key] for key in ("memory_leased_bytes", "memory_used_bytes", "memory_unexplained_bytes")]
                                    for gpu in each["gpus"]] for each in node["instances"]}
        self.configuration = {each["key"]: each.get("configured", each["value"]) for each in values}
        self.from_files = {each["key"] for each in values
                           if each.get("configured-source", each["source"]).startswith(str(CONFIGURATION))}
        report = subprocess.run(["cgpuctl", "report", *WHILE_IT_LASTED, history_until, "--json"], capture_output=True, text=True,
                                timeout=DEADLINE, check=False)
        self.history = json.loads(report.stdout)["rows"] if report.returncode == 0 else report.stderr

    def differences(self, other):
        found = []
        for part in ("settings", "instances", "memory", "configuration", "history"):
            mine, its = leaves(getattr(self, part), part), leaves(getattr(other, part), part)
            found += [f"{place} is {mine.get(place)} instead of {its.get(place)}" for place in {**mine, **its}
                      if mine.get(place) != its.get(place)]
        return found


class Mutations:
    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.aside = LAB / "originals"
        shutil.rmtree(self.aside, ignore_errors=True)
        for folder in (STATE, CONFIGURATION):
            shutil.copytree(folder, self.aside / folder.relative_to("/"), symlinks=True)
        shutil.copy2(LEASES, self.aside / "leases")
        self.olders = {name: (LAB / "older" / name).read_bytes() for name in KINDS}
        self.older_settings = json.loads((LAB / "older/described").read_text())
        self.until = (LAB / "older/until").read_text().strip()
        self.counts = collections.Counter()
        self.wrong = []

    def restore(self):
        for folder in (STATE, CONFIGURATION):
            for entry in folder.iterdir():
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
            shutil.copytree(self.aside / folder.relative_to("/"), folder, symlinks=True, dirs_exist_ok=True)
        for entry in LEASES.parent.glob("leases*"):
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        shutil.copy2(self.aside / "leases", LEASES)

    def start(self):
        """A cgpud that serves, or one that has ended; and the file with what it said."""
        said = (LAB / "mutated.log").open("w+")
        process = subprocess.Popen(["/usr/sbin/cgpud"], stdout=said, stderr=said, stdin=subprocess.DEVNULL,
                                   env={"PATH": "/usr/sbin:/usr/bin"}, start_new_session=True)
        bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
        end = time.monotonic() + DEADLINE
        while process.poll() is None:
            owned, = bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner",
                                   GLib.Variant("(s)", ("org.cgpu1",)), None, Gio.DBusCallFlags.NONE, -1, None).unpack()
            if owned:
                break
            if time.monotonic() > end:
                process.kill()
                return None, self.said(said)
            time.sleep(0.01)
        return process, said

    @staticmethod
    def said(file):
        file.seek(0)
        return file.read()

    def truth(self):
        process, said = self.start()
        if process is None or process.poll() is not None:
            sys.exit(f"cgpud doesn't start on its own files: {self.said(said)}")
        node = Node(self.until)
        process.kill()
        process.wait()
        warnings = [line for line in self.said(said).split("\n") if re.search(r" (warning|error): ", line)]
        if warnings:
            sys.exit(f"cgpud finds something wrong with its own files: {warnings}")
        return node

    def wait_for_the_driver(self, node, truth):
        """What no lease says, the driver's figures do, which come with the next look; they know nothing of what was leased."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            if all(used >= truly[1] for id, gpus in truth.memory.items()
                   for (_, used, _), truly in zip(node.memory.get(id, []), gpus)):
                node.memory = truth.memory
                return
            time.sleep(0.2)
            node.memory = Node(self.until).memory

    def judge(self, name, node, truth):
        """What is wrong with what is served, without a word of the log."""
        if name in ("configuration", "drop-in"):
            return self.judge_configuration(node, truth)
        return node.differences(truth)

    def judge_configuration(self, node, truth):
        says = {}
        for path in (KINDS["configuration"].path, DROP_IN):
            try:
                # The last one counts, and this is of the larger name.
                its = settings_in(path.read_text()) if path.exists() else {}
            except UnicodeDecodeError:
                its = None
            if its is None:
                return ["it has lines that this test can't read, and other values"] if node.differences(truth) else []
            says |= its
        served = {key: node.configuration[key] for key in node.from_files if key.partition(".")[0] != "gpus"}
        return [f"{key} is {served.get(key)}, the files say {says.get(key)}" for key in served.keys() | says.keys()
                if served.get(key) != says.get(key)]

    def one(self, number, truth):
        self.restore()
        name = self.chance.choices(list(KINDS), [kind.share for kind in KINDS.values()])[0]
        path = KINDS[name].path
        way = self.chance.choice(damage.WAYS)
        what = f"{number}: {path}, {way(path, self.olders[name], self.chance)}"
        if name == "state" and self.chance.random() < 0.25:
            # Who falls back to the former state has to look at that, too.
            spare_way = self.chance.choice(damage.WAYS)
            what += f", and the spare one {spare_way(KINDS['spare'].path, self.olders['spare'], self.chance)}"
        try:
            check = subprocess.run(["/usr/sbin/cgpud", "--check"], capture_output=True, text=True, timeout=DEADLINE, check=False,
                                   stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return self.fault(what, name, way, "cgpud --check hangs")
        if check.returncode not in (0, 1, 78):  # 78: the configuration
            return self.fault(what, name, way, f"cgpud --check ended with {check.returncode}: {check.stderr[-500:]}")
        process, said = self.start()
        if process is None:
            return self.fault(what, name, way, f"cgpud neither serves nor ends: {said}")
        if process.poll() is not None:
            text = self.said(said)
            if process.returncode < 0 or process.returncode not in (1, 78):
                return self.fault(what, name, way, f"cgpud crashed with {process.returncode}: {text[-2000:]}")
            if str(path) not in text or ". Try: " not in text:
                return self.fault(what, name, way, f"the refusal doesn't name the file: {text[-500:]}")
            return self.count(name, way, "refused")
        node = Node(self.until)
        if name == "leases":
            self.wait_for_the_driver(node, truth)
        process.kill()
        process.wait()
        warned = [line for line in self.said(said).split("\n")
                  if re.search(r" (warning|error|critical): ", line) and str(path) in line]
        wrong = self.judge(name, node, truth)
        if not wrong:
            return self.count(name, way, "served as it was, and said" if warned else "served as it was")
        if warned:
            return self.count(name, way, "said")
        # A history that grows has been each of its beginnings.
        is_older = way is damage.older or (name == "history" and way is damage.missing) or (
            name == "history" and way is damage.truncated and path.stat().st_size % 512 == 0)
        if is_older and self.as_the_older_said(name, node, truth):
            return self.count(name, way, "served as the older copy says")
        return self.fault(what, name, way, "; ".join(wrong[:4]))

    def as_the_older_said(self, name, node, truth):
        """An older copy is a good file; but who lives is not forgotten."""
        if name == "state":
            return node.settings == self.older_settings and node.instances.keys() == truth.instances.keys()
        # Later records are missing.
        return name in ("history", "leases") and node.settings == truth.settings and node.instances == truth.instances

    def count(self, name, way, result):
        self.counts[name, way.__name__, result] += 1

    def fault(self, what, name, way, why):
        self.count(name, way, "WRONG")
        self.wrong.append(f"{what}: {why}")

    def run(self, count):
        self.restore()
        truth = self.truth()
        for number in range(1, count + 1):
            self.one(number, truth)
        self.restore()
        for (name, way, result), times in sorted(self.counts.items()):
            print(f"{name}, {way}: {result}: {times}")
        for each in self.wrong:
            print(each)
        if self.wrong:
            sys.exit(f"{len(self.wrong)} of {count} damaged files were not taken as they are")


if __name__ == "__main__":
    if sys.argv[1] == "--describe":
        print(json.dumps(Node("now").settings))
    else:
        Mutations(sys.argv[2]).run(int(sys.argv[1]))
