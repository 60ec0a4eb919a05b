#!/usr/bin/python3
"""Makes each kind of change while the disk of cgpud's state fails in each way. It must be refused with a remedy, and all that is
shown, and what lies on the disk, must be as before; when the disk works again, so does the change.
usage: refusals.py SOCKET_OF_THE_DISK OTHER_MODULE_VERSION
GPU 0 is this program's alone. Exit status 1: something is wrong, and the last line says what.
"""
import dataclasses
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bus_soak"))

from client import MANAGER, Caller, GLib  # noqa: E402
from model import MIB  # noqa: E402

STATE = pathlib.Path("/var/lib/cgpu")
LINKS = pathlib.Path("/run/cgpu/instances")
OWN = "a0" * 8  # the instance that is there all the time
OTHER = "b0" * 8
INSTANCE = f"{MANAGER}/instance/{OWN}"
SPARE = STATE / ".state.json.spare"

# What the disk is told. A step that needs a new file is taken only where there is no spare one.
FAULTS = {
    "full": (["full"], True),
    "full, and every write needs space": (["full-anew"], False),
    "full when it is synced": (["fail sync ENOSPC"], False),
    "over the quota": (["fail write EDQUOT"], False),
    "read-only": (["read-only"], False),
    "EIO at making a file": (["fail create EIO"], True),
    "EIO at writing": (["fail write EIO"], False),
    "EIO at syncing": (["fail sync EIO"], False),
    "EIO at renaming": (["fail exchange EIO", "fail rename EIO"], False),
    "EIO at renaming a new file": (["fail exchange EIO", "fail rename EIO"], True),
    "EIO at everything": ([f"fail {step} EIO" for step in ("create", "open", "write", "shorten", "sync", "sync-folder", "rename",
                                                           "exchange", "remove")], False),
}


@dataclasses.dataclass
class Change:
    name: str
    make: tuple  # path, interface, method, signature, arguments
    back: list = dataclasses.field(default_factory=list)  # what undoes it
    first: list = dataclasses.field(default_factory=list)  # what has to be there


def flag(name):
    return {name: GLib.Variant("b", True)}


def asks(size):
    return {"CGPU_MEM": size, "CGPU_GPUS": "0"}


def changes(gpu, child, module, other_module):
    """All kinds."""
    def gpu_call(method, signature, *arguments):
        return gpu, "Gpu", method, signature, arguments

    def own(method, signature, *arguments):
        return INSTANCE, "Instance", method, signature, arguments

    def node(method, signature, *arguments):
        return MANAGER, "Manager", method, signature, arguments

    weight = own("SetWeight", "(sua{sv})", "", 2, {})
    kept = own("SetWeight", "(sua{sv})", "", 2, flag("persist"))
    revert = own("Revert", "(sa{sv})", "", {})
    revert_gpu = gpu_call("Revert", "(a{sv})", {})
    forget = node("Forget", "(sa{sv})", "own", {})
    create = node("CreateInstance", "(ssa{ss}a{sv})", OTHER, "other", asks("1GiB"), {})
    attach = node("Attach", "(sua{sv})", OTHER, child, {})
    release = node("ReleaseInstance", "(sa{sv})", OTHER, {})
    apply = node("Apply", "(aa{sv}a{sv})", [{"gpu": GLib.Variant("s", "0"), "max-inst": GLib.Variant("u", 9)},
                                           {"instance": GLib.Variant("s", OWN), "weight": GLib.Variant("u", 3)}], {})
    admit = node("AdmitUnmanaged", "(ssasa{sv})", OTHER, "whole", ["1"], {})
    default = node("SetDefaultMemory", "(ta{sv})", 3000 * MIB, {})
    revert_default = node("RevertDefaultMemory", "(a{sv})", {})
    mode = node("SetMode", "(sa{sv})", "memory+compute", {})
    configured = node("SetMode", "(sa{sv})", "configured", {})
    hot = node("UpgradeHot", "(sa{sv})", other_module, {})
    hot_back = node("UpgradeHot", "(sa{sv})", module, {})
    return [
        Change("a GPU's policy", gpu_call("SetPolicy", "(sa{sv})", "fixed", {}), [revert_gpu]),
        Change("a GPU's policy until the reboot", gpu_call("SetPolicy", "(sa{sv})", "fixed", flag("runtime")), [revert_gpu]),
        Change("max_inst", gpu_call("SetMaxInst", "(ua{sv})", 12, {}), [revert_gpu]),
        Change("prio_ratio", gpu_call("SetPrioRatio", "(ua{sv})", 70, {}), [revert_gpu]),
        Change("a drain", gpu_call("SetDrained", "(ba{sv})", True, {}), [gpu_call("SetDrained", "(ba{sv})", False, {})]),
        Change("a GPU's revert", revert_gpu, first=[gpu_call("SetPolicy", "(sa{sv})", "soft", {})]),
        Change("a weight", weight, [revert]),
        Change("a memory limit", own("SetMemory", "(sta{sv})", "", 700 * MIB, {}), [revert]),
        Change("a priority", own("SetHighPriority", "(sba{sv})", "", True, {}), [revert]),
        Change("a pause", own("SetPaused", "(sba{sv})", "", True, {}), [own("SetPaused", "(sba{sv})", "", False, {})]),
        Change("an instance's revert", revert, first=[weight]),
        Change("a kept setting", kept, [revert, forget]),
        Change("that a kept setting is forgotten", forget, first=[kept, revert]),
        Change("several at once", apply, [revert, revert_gpu]),
        Change("an admission", create, [release]),
        Change("an attachment", attach, [release], [create]),
        Change("an end", release, first=[create, attach]),
        Change("a container that books its GPU", admit, [release]),
        Change("the default memory", default, [revert_default]),
        Change("the configured default memory", revert_default, first=[default]),
        Change("the mode", mode, [configured]),
        Change("the module", hot, [hot_back]),
    ]


class Refusals(Caller):
    def __init__(self, socket, other_module):
        super().__init__("refusals", 0)
        self.socket = socket
        self.child = subprocess.Popen(["sleep", "infinity"])
        self.call(MANAGER, "Manager", "CreateInstance", "(ssa{ss}a{sv})", OWN, "own", asks("1GiB"), {})
        self.call(MANAGER, "Manager", "Attach", "(sua{sv})", OWN, self.child.pid, {})
        gpu, = self.call(MANAGER, "Manager", "FindGpu", "(s)", "0")
        self.changes = changes(gpu, self.child.pid, self.describe()["module_version"], other_module)

    def tell(self, *orders):
        for order in orders:
            subprocess.run(["unsafe_disk", "--socket", self.socket, "--tell", order], check=True, stdout=subprocess.DEVNULL)

    def shown(self):
        """All of the node that doesn't change by itself, and what lies on the disk and in the folder of links."""
        node = self.describe()
        found = {key: node[key] for key in ("generation", "module_version", "mode", "mode_source", "default_memory_bytes",
                                            "default_memory_source", "job", "kept", "unmanaged")}
        found["gpus"] = [{key: each[key] for key in ("uuid", "present", "obstacle", "mode", "policy_name", "max_inst", "free_weight",
                                                     "prio_ratio", "memory_allocated_bytes")} for each in node["gpus"]]
        found["instances"] = [
            {key: each[key] for key in ("id", "name", "state", "pid", "created_seconds", "managed")} |
            {"gpus": [{key: gpu[key] for key in ("index", "memory_limit_bytes", "weight", "asked_share", "high_priority")}
                      for gpu in each["gpus"]]} for each in node["instances"]]
        found["settings changed"] = node["event_counts"].get("setting-changed", 0)
        found["state.json"] = (STATE / "state.json").read_text()
        found["links"] = sorted(os.listdir(LINKS))
        return found

    def make(self, call):
        path, interface, method, signature, arguments = call
        answer = self.call(path, interface, method, signature, *arguments)
        job = answer[0] if answer and isinstance(answer[0], str) and answer[0].startswith(f"{MANAGER}/job/") else None
        end = time.monotonic() + 20
        while job and self.describe()["job"]["state"] != "ended":
            if time.monotonic() > end:
                sys.exit(f"{method}: the job doesn't end: {self.describe()['job']}")
            time.sleep(0.02)
        if job and self.describe()["job"]["result"] != "done":
            sys.exit(f"{method}: {self.describe()['job']}")

    def must_be(self, before, what):
        now = self.shown()
        different = [f"{key} was {before[key]} and is {now[key]}" for key in now if now[key] != before[key]]
        if different:
            sys.exit(f"{what}: " + "; ".join(different))

    def refused(self, change, fault):
        """The change while the disk fails so."""
        orders, without_spare = FAULTS[fault]
        what = f"{change.name}, with a disk that is {fault}" if fault[0] != "E" else f"{change.name}, with {fault}"
        for call in change.first:
            self.make(call)
        before = self.shown()
        if without_spare:
            SPARE.unlink(missing_ok=True)
        self.tell(*orders)
        try:
            self.make(change.make)
            sys.exit(f"{what}: it was made")
        except KeyError as error:
            name, text = error.args
            if name != "Storage" or ". Try: " not in text or str(STATE) not in text:
                sys.exit(f"{what}: it was refused with {name}: {text}")
        self.must_be(before, what)
        self.tell("well")
        self.make(change.make)
        if self.shown() == before:
            sys.exit(f"{what}: nothing was changed when the disk worked again")
        for call in change.back:
            self.make(call)

    def all_refused_at_once(self, fault):
        """Again and again, and by a cgpud that was killed meanwhile."""
        orders, without_spare = FAULTS[fault]
        before = self.shown()
        if without_spare:
            SPARE.unlink(missing_ok=True)
        self.tell(*orders)
        for part in range(2):
            for change in self.changes:
                if change.first:
                    continue
                try:
                    self.make(change.make)
                    sys.exit(f"{change.name}, with {fault}: it was made")
                except KeyError as error:
                    if error.args[0] != "Storage":
                        sys.exit(f"{change.name}, with {fault}: it was refused with {error.args}")
            self.must_be(before, f"all changes, with {fault}")
            subprocess.run(["lab-restart-cgpud", "--kill"], check=True)
            before["settings changed"] = 0
            self.must_be(before, f"a restart, with {fault}")
        self.tell("well")
        leftovers = set(os.listdir(STATE)) - {"state.json", SPARE.name, "history", "history-days"}
        subprocess.run(["lab-restart-cgpud", "--kill"], check=True)
        if leftovers := set(os.listdir(STATE)) - {"state.json", SPARE.name, "history", "history-days"}:
            sys.exit(f"with {fault}: left behind: {leftovers}")

    def folder_not_synced(self, change):
        """It is in force for all who read the file, so it is made, and the log warns."""
        for call in change.first:
            self.make(call)
        before = self.shown()
        self.tell("fail sync-folder EIO")
        self.make(change.make)
        after = self.shown()
        if after == before:
            sys.exit(f"{change.name}, with a folder that isn't synced: it was answered, and not made")
        self.tell("well")
        for call in change.back:
            self.make(call)

    def run(self):
        for fault in FAULTS:
            for change in self.changes:
                self.refused(change, fault)
            self.all_refused_at_once(fault)
        for change in self.changes:
            self.folder_not_synced(change)
        print(f"{len(self.changes)} kinds of change, {len(FAULTS) + 1} kinds of failure: {self.calls} calls")
        self.call(MANAGER, "Manager", "ReleaseInstance", "(sa{sv})", OWN, {})
        self.child.kill()


Refusals(*sys.argv[1:]).run()
