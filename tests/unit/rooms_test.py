#!/usr/bin/env python3
"""Reads every #include of the tree and fails where an arrow points where ARCHITECTURE.md says it must not, where files or
folders include each other in a circle, where a folder includes what lies directly in one above it, and where a file or a
folder has become larger than CONTRIBUTING.md says.

usage: rooms_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

FRONT = ["base", "driver", "link", "swap", "session", "contexts", "sizes", "lease", "memory", "compute", "process", "hooks"]
# The simulator's libraries from the bottom to the top.
SIMULATOR = ["model", "device/layout", "device/file", "device/ledger", *(f"driver/{room}" for room in (
    "base", "stream", "module", "graph", "context", "mapping", "memory", "runtime", "work", "launch", "api"))]
# What each room of verbs may include: the input of all verbs, and how they print.
CGPUCTL = ["core", "dbus", "files", "client/cgpuctl/base", "client/cgpuctl/output", "client/node", "client/run"]
# What each room may include, beside itself and the rooms in it. The longest matching name of a room counts.
MAY = {
    "core/wire": [],
    "core/model": [],
    "core/elf": [],
    "core/view": ["core/wire"],
    "core/history": ["core/model"],
    "core/request": ["core/model"],
    "core/limits": ["core/model"],
    "core/ends": ["core/model"],
    "core/admission": ["core/limits", "core/model", "core/request"],
    "core/queue/base": ["core/admission", "core/limits", "core/model", "core/request"],
    "core/queue": ["core/admission", "core/limits", "core/model", "core/request"],
    "core/schedule/base": ["core/model"],
    "core/schedule/parts": ["core/model", "core/schedule/base"],
    "core/schedule": ["core/model"],
    "core/upgrade": ["core/model", "core/wire"],
    "core/trace": ["core/model", "core/schedule"],
    "bundle": ["core", "files"],
    "daemon/app/ports/upgrade": ["core"],
    "daemon/app/ports": ["core"],
    "daemon/app/events": ["core", "daemon/app/ports"],
    "daemon/app/memory/pool": ["core", "daemon/app/ports"],
    "daemon/app/memory": ["core", "daemon/app/events", "daemon/app/ports"],
    "daemon/app/compute": ["core", "daemon/app/memory", "daemon/app/ports", "daemon/app/witness"],
    "daemon/app/drivers": ["core", "daemon/app/ports"],
    "daemon/app/ends": ["core", "daemon/app/events", "daemon/app/ports", "daemon/app/stops"],
    "daemon/app/history": ["core", "daemon/app/ports"],
    "daemon/app/limits": ["core", "daemon/app/ports"],
    "daemon/app/instances/base": ["core", "daemon/app/events", "daemon/app/ports"],
    "daemon/app/instances": ["core", "daemon/app/ends", "daemon/app/events", "daemon/app/limits", "daemon/app/looks",
                             "daemon/app/ports", "daemon/app/queue", "daemon/app/stops"],
    "daemon/app/queue": ["core", "daemon/app/events", "daemon/app/ports"],
    "daemon/app/looks": ["core", "daemon/app/ports"],
    "daemon/app/stops": ["core", "daemon/app/ports"],
    "daemon/app/trace": ["core", "daemon/app/events", "daemon/app/ports"],
    "daemon/app/upgrade": ["core", "daemon/app/events", "daemon/app/ports"],
    "daemon/app/witness": ["core", "daemon/app/events", "daemon/app/ports"],
    "daemon/bus/message": ["core", "daemon/app", "dbus"],
    "daemon/bus/calls": ["core", "daemon/app", "dbus", "daemon/bus/message"],
    "daemon/bus/authority": ["core", "daemon/app", "dbus", "daemon/bus/calls", "daemon/bus/message"],
    "daemon/bus/usage": ["core", "daemon/app", "dbus", "daemon/bus/authority"],
    "daemon/bus/objects": ["core", "daemon/app", "dbus", "daemon/bus/authority", "daemon/bus/calls", "daemon/bus/message",
                           "daemon/bus/usage"],
    "daemon/bus": ["core", "daemon/app", "dbus"],
    "daemon/config/limits": ["core"],
    "daemon/config": ["core", "files"],
    "daemon/people/answer": ["daemon/app"],
    "daemon/people/lookup": ["daemon/app", "daemon/people/answer"],
    "daemon/people": ["core", "daemon/app"],
    "daemon/store/base": ["files"],
    "daemon/store/json": ["core"],
    "daemon/store/history": ["core", "files", "daemon/app", "daemon/store/base"],
    "daemon/store": ["core", "files", "daemon/app"],
    "daemon/link/base": ["core", "files", "daemon/app"],
    "daemon/link/pages": ["core", "files", "daemon/app", "daemon/link/base"],
    "daemon/link/socket": ["core", "files", "daemon/app", "daemon/link/base", "daemon/link/pages"],
    "daemon/link/driver": ["core", "files", "daemon/app", "daemon/link/base"],
    "daemon/link/instance": ["core", "files", "daemon/app", "daemon/link/base", "daemon/link/driver", "daemon/link/pages", "daemon/link/socket"],
    "daemon/link": ["core", "files", "daemon/app"],
    "daemon/gpu/messages": ["core", "daemon/app"],
    "daemon/gpu/reader": ["core", "files", "daemon/app", "daemon/gpu/messages"],
    "daemon/gpu": ["core", "daemon/app"],
    "daemon/modules": ["core", "bundle", "daemon/app"],
    "daemon/system/log": ["core", "daemon/app"],
    "daemon/system/processes": ["core", "files", "daemon/app"],
    "daemon/system": ["core", "files", "daemon/app"],
    "daemon": ["core", "daemon"],
    "client/node/values": ["core/view"],
    "client/node": ["core/model", "core/request", "core/view", "files", "dbus"],
    "client/run/files": ["core", "files", "client/node"],
    "client/run/driver": ["core", "files", "client/node", "client/run/files"],
    "client/run/mounts": ["core", "files", "client/node", "client/run/driver", "client/run/files"],
    "client/run/job": ["core", "files", "client/node"],
    "client/exporter": ["core/model", "core/view", "client/node"],
    "client/enter": ["core", "files", "client/node", "client/run"],
    "client/modules": ["core", "files", "bundle", "client/node", "client/run"],
    "client/runtime/oci": ["core", "files", "client/node", "client/run"],
    "client/runtime/call": ["core", "files", "client/node", "client/run", "client/runtime/oci"],
    "client/runtime/chain": ["core", "files", "client/node", "client/run", "client/runtime/oci", "client/runtime/call"],
    "client/runtime/nvidia": ["core", "files", "client/node", "client/run", "client/runtime/oci"],
    "client/runtime/hooks": ["core", "files", "client/node", "client/run", "client/runtime/oci", "client/runtime/nvidia"],
    "client/runtime": ["core", "files", "client/node", "client/run"],
    "client/cgpuctl/output": ["core", "client/node", "dbus"],
    "client/cgpuctl/base": ["core", "client/cgpuctl/output", "client/node"],
    "client/cgpuctl/completion": CGPUCTL,
    "client/cgpuctl/manual": CGPUCTL,
    "client/cgpuctl/jobs": CGPUCTL,
    "client/cgpuctl/instances": CGPUCTL,
    "client/cgpuctl/verbs": [*CGPUCTL, "client/cgpuctl/docker", "client/cgpuctl/instances", "client/cgpuctl/jobs", "client/cgpuctl/modules",
                             "client/cgpuctl/queue"],
    "client/cgpuctl/queue": CGPUCTL,
    "client/cgpuctl/batch": CGPUCTL,
    "client/cgpuctl/bench": CGPUCTL,
    "client/cgpuctl/docker/containerd": [*CGPUCTL, "client/cgpuctl/docker/engine"],
    "client/cgpuctl/docker/engine": CGPUCTL,
    "client/cgpuctl/docker": CGPUCTL,
    "client/cgpuctl/cdi": [*CGPUCTL, "client/cgpuctl/docker"],
    "client/cgpuctl/events": CGPUCTL,
    "client/cgpuctl/smi": CGPUCTL,
    "client/cgpuctl/report": [*CGPUCTL, "client/cgpuctl/events"],
    "client/cgpuctl/trace": CGPUCTL,
    "client/cgpuctl/why": [*CGPUCTL, "client/cgpuctl/queue", "client/cgpuctl/smi"],
    "client/cgpuctl/top/base": CGPUCTL,
    "client/cgpuctl/top/model": [*CGPUCTL, "client/cgpuctl/smi", "client/cgpuctl/top/base"],
    "client/cgpuctl/top/dialog": [*CGPUCTL, "client/cgpuctl/top/base", "client/cgpuctl/top/model"],
    "client/cgpuctl/top/screen": [*CGPUCTL, "client/cgpuctl/top/base"],
    "client/cgpuctl/top": [*CGPUCTL, "client/cgpuctl/smi"],
    "client/cgpuctl/doctor/base": CGPUCTL,
    "client/cgpuctl/doctor/facts": [*CGPUCTL, "client/cgpuctl/doctor/base"],
    "client/cgpuctl/doctor/checks": [*CGPUCTL, "bundle", "client/cgpuctl/docker", "client/cgpuctl/doctor/base", "client/cgpuctl/doctor/facts"],
    "client/cgpuctl/doctor": CGPUCTL,
    "client/cgpuctl/modules": [*CGPUCTL, "bundle", "client/cgpuctl/jobs", "client/modules"],
    "client/cgpuctl": [*CGPUCTL, "client/cgpuctl"],
    "module/generate": [],
    "module/base": [],
    "module/engine/abi": ["core/wire"],
    "module/engine/base": ["module/engine/abi"],
    "module/engine/memory": ["core/wire", "module/engine/abi", "module/engine/base"],
    "module/engine/compute": ["core/wire", "module/base", "module/engine/abi", "module/engine/base"],
    "module/engine": ["core/wire"],
    "module/bundle": ["core", "bundle", "module/engine/abi"],
    "module/front": ["core/wire"],
    # Its rooms from the bottom to the top; nvml stands beside those of CUDA.
    **{f"module/front/{room}": ["core/wire", "module/base", "module/engine/abi", "module/generate", *(f"module/front/{each}" for each in FRONT[:at])]
       for at, room in enumerate(FRONT)},
    "module/front/nvml": ["core/wire", *(f"module/front/{each}" for each in FRONT[:3])],
    "dbus/json": ["core/view"],
    "dbus": [],
    "files": [],
    "tests/sim": [],
    **{f"tests/sim/{room}": ["tests/sim/include", *(f"tests/sim/{each}" for each in SIMULATOR[:at])]
       for at, room in enumerate(SIMULATOR)},
    "tests/sim/nvml": ["tests/sim/include", "tests/sim/model", "tests/sim/device"],
    "tests/sim/tool": ["tests/sim/model", "tests/sim/device"],
    "tests/sim/test": ["tests/sim"],
    "tests/sim/test/support": ["tests/sim/include", "tests/sim/model", "tests/sim/device"],
    "tests/peer": ["core/wire"],
    "tests/programs": ["core/wire", "tests/sim/include", "tests/peer"],
    "tests/fuzz": ["core", "bundle", "daemon", "client", "tests/unit"],
    "tests/unit": ["core", "files", "bundle", "daemon", "client", "module", "dbus", "tests/peer"],
    "bench": ["core", "daemon", "module", "tests/sim/include", "tests/unit"],
}
# The core is pure: nothing that reaches outside may be included.
IMPURE = re.compile(
    r"<(sdbus-c\+\+|systemd/|spdlog/|yaml-cpp/|nlohmann/|CLI/|fcntl\.h|unistd\.h|sys/|linux/|dlfcn\.h|pthread\.h|time\.h|ctime"
    r"|thread|mutex|condition_variable|fstream|iostream|filesystem|chrono|random)"
)
MOST_LINES = 400
MOST_FILES = 20
LARGE_FOLDERS = {"core/model"}  # a file for each value, and nothing else
INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]+>|"[^"]+")')


def room_of(path):
    rooms = [room for room in MAY if path == room or path.startswith(room + "/")]
    return max(rooms, key=len) if rooms else None


def allowed(room, target):
    return any(target == may or target.startswith(may + "/") for may in [room, *MAY[room]])


def includes_of(root, path):
    """Each line's number and what it includes: (number, "<name>"), or (number, the file's path in the tree). A name in quotes
    is looked up in the file's own folder first, as compilers do. What the build makes is as it is named."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        name = found.group(1)
        if name[0] == "<":
            yield number, name
            continue
        for folder in (path.parent, root):
            target = (folder / name[1:-1]).resolve()
            if target.is_file() and target.is_relative_to(root):
                yield number, target.relative_to(root).as_posix()
                break
        else:
            yield number, name[1:-1]


def circles(includes):
    """What is part of a circle, of a dictionary from names to the names that each includes."""
    # Names that only include removed names are removed, until only circles and names that lead to them are left.
    left = {unit: {target for target in targets if target != unit and target in includes} for unit, targets in includes.items()}
    while True:
        out = {unit for unit, targets in left.items() if not targets & left.keys()}
        if not out:
            break
        left = {unit: targets for unit, targets in left.items() if unit not in out}
    while True:
        named = set().union(*left.values()) if left else set()
        if left.keys() <= named:
            break
        left = {unit: targets for unit, targets in left.items() if unit in named}
    return sorted(left)


def sources(root):
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix in (".hpp", ".cpp", ".h", ".c") and room_of(name) is not None:
            yield path


def folder_of(name):
    return name.rpartition("/")[0]


def problems(root):
    files = {}  # a header and its .cpp are one
    folders = {}
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        room = room_of(name)
        for number, target in includes_of(root, path):
            if target[0] == "<":
                if room.startswith("core/") and IMPURE.match(target):
                    yield f"{name}:{number}: the core is pure, but includes {target}"
                continue
            files.setdefault(name.rpartition(".")[0], set()).add(target.rpartition(".")[0])
            folders.setdefault(folder_of(name), set()).add(folder_of(target))
            if room_of(target) and not allowed(room, target):
                yield f"{name}:{number}: {room} may not know {target}"
            if name.startswith(folder_of(target) + "/") and folder_of(name) != folder_of(target):
                yield f"{name}:{number}: {target} lies in a folder above; what both need goes into a room below both"
    for unit in circles(files):
        yield f"{unit}: it is part of a circle of files that include each other"
    for folder in circles(folders):
        yield f"{folder}: it is part of a circle of folders that include each other"


def sizes(root):
    files = {}
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        files[folder_of(name)] = files.get(folder_of(name), 0) + 1
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MOST_LINES:
            yield f"{name}: it has {lines} lines, more than {MOST_LINES}"
    for folder, count in files.items():
        if count > MOST_FILES and folder not in LARGE_FOLDERS:
            yield f"{folder}: it has {count} files, more than {MOST_FILES}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    folders = [root / top for top in ("core", "files", "bundle", "daemon", "client", "module", "dbus", "bench", "tests")]
    missing = [str(folder) for folder in folders if not folder.is_dir()]
    if missing:
        sys.exit(f"no such folder: {', '.join(missing)}")
    found = [problem for problem in [*problems(root), *sizes(root)] if not problem.startswith("build/")]
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


main()
