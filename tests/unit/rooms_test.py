#!/usr/bin/env python3
"""Reads every #include of the tree and fails where an arrow points where ARCHITECTURE.md says it must not.

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
CGPUCTL = ["core", "client/cgpuctl/input.hpp", "client/cgpuctl/output", "client/cgpuctl/verb.hpp", "client/cgpuctl/verbs.hpp",
           "client/node", "client/run"]
# What all rooms of the link may include: a descriptor with an owner, and the interfaces to the outside.
LINK = ["daemon/link/file.hpp", "daemon/link/settings.hpp"]
# What each room may include, beside itself. The longest matching name of a room counts.
MAY = {
    "core/wire": [],
    "core/model": [],
    "core/elf": [],
    "core/request": ["core/model"],
    "core/admission": ["core/model", "core/request"],
    "core/schedule/base": ["core/model"],
    "core/schedule/parts": ["core/model", "core/schedule/base"],
    "core/schedule": ["core/model"],
    "core/upgrade": ["core/model", "core/wire"],
    "bundle": ["core"],
    "daemon/app/ports": ["core"],
    "daemon/app/memory/pool": ["core", "daemon/app/ports"],
    "daemon/app/memory": ["core", "daemon/app/ports"],
    "daemon/app/compute": ["core", "daemon/app/memory", "daemon/app/ports"],
    "daemon/app/instances": ["core", "daemon/app/ports"],
    "daemon/app/upgrade": ["core", "daemon/app/ports"],
    "daemon/bus/message": ["core", "daemon/app", "dbus"],
    "daemon/bus/authority": ["core", "daemon/app", "dbus", "daemon/bus/message"],
    "daemon/bus/objects": ["core", "daemon/app", "dbus", "daemon/bus/authority", "daemon/bus/message"],
    "daemon/bus": ["core", "daemon/app", "dbus"],
    "daemon/config": ["core"],
    "daemon/store": ["core", "daemon/app"],
    "daemon/link/pages": ["core", "daemon/app", *LINK],
    "daemon/link/socket": ["core", "daemon/app", *LINK, "daemon/link/pages"],
    "daemon/link/instance": ["core", "daemon/app", *LINK, "daemon/link/pages", "daemon/link/socket"],
    "daemon/link": ["core", "daemon/app"],
    "daemon/gpu": ["core", "daemon/app"],
    "daemon/modules": ["core", "bundle", "daemon/app"],
    "daemon/system/log": ["core", "daemon/app"],
    "daemon/system/processes": ["core", "daemon/app"],
    "daemon/system": ["core", "daemon/app"],
    "daemon": ["core", "daemon"],
    "client/node": ["core/model", "core/request", "dbus"],
    "client/run/files": ["core", "client/node"],
    "client/run/driver": ["core", "client/node", "client/run/files"],
    "client/run/mounts": ["core", "client/node", "client/run/driver", "client/run/files"],
    "client/run/job": ["core", "client/node"],
    "client/enter": ["core", "client/node", "client/run"],
    "client/modules": ["core", "bundle", "client/node", "client/run"],
    "client/runtime/oci": ["core", "client/node", "client/run"],
    "client/runtime/call": ["core", "client/node", "client/run", "client/runtime/oci"],
    "client/runtime/chain": ["core", "client/node", "client/run", "client/runtime/oci", "client/runtime/call"],
    "client/runtime/hooks": ["core", "client/node", "client/run"],
    "client/runtime": ["core", "client/node", "client/run"],
    "client/cgpuctl/output": ["core", "client/cgpuctl/input.hpp", "client/node"],
    "client/cgpuctl/jobs": CGPUCTL,
    "client/cgpuctl/verbs": [*CGPUCTL, "client/cgpuctl/jobs", "client/cgpuctl/modules"],
    "client/cgpuctl/bench": CGPUCTL,
    "client/cgpuctl/docker": CGPUCTL,
    "client/cgpuctl/modules": [*CGPUCTL, "bundle", "client/cgpuctl/jobs", "client/modules"],
    "client/cgpuctl": [*CGPUCTL, "client/cgpuctl"],
    "module/generate": [],
    "module/engine/base": ["module/engine/api.hpp"],
    "module/engine/memory": ["core/wire", "module/engine/api.hpp", "module/engine/base"],
    "module/engine/compute": ["core/wire", "module/engine/api.hpp", "module/engine/base"],
    "module/engine": ["core/wire"],
    "module/bundle": ["core", "bundle", "module/engine/api.hpp"],
    "module/front": ["core/wire"],
    # Its rooms from the bottom to the top; nvml stands beside those of CUDA.
    **{f"module/front/{room}": ["core/wire", "module/engine/api.hpp", "module/generate", *(f"module/front/{each}" for each in FRONT[:at])]
       for at, room in enumerate(FRONT)},
    "module/front/nvml": ["core/wire", *(f"module/front/{each}" for each in FRONT[:3])],
    "dbus": [],
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
    "tests/unit": ["core", "bundle", "daemon", "client", "module", "dbus", "tests/peer"],
}
# The core is pure: nothing that reaches outside may be included.
IMPURE = re.compile(
    r"<(sdbus-c\+\+|systemd/|spdlog/|yaml-cpp/|nlohmann/|CLI/|fcntl\.h|unistd\.h|sys/|linux/|dlfcn\.h|pthread\.h|time\.h|ctime"
    r"|thread|mutex|condition_variable|fstream|iostream|filesystem|chrono|random)"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]+>|"[^"]+")')


def room_of(path):
    rooms = [room for room in MAY if path == room or path.startswith(room + "/")]
    return max(rooms, key=len) if rooms else None


def allowed(room, target):
    return any(target == may or target.startswith(may + "/") for may in [room, *MAY[room]])


def includes_of(root, path):
    for line in path.read_text(encoding="utf-8").splitlines():
        found = INCLUDE.match(line)
        if found and found.group(1)[0] == '"':
            name = found.group(1)[1:-1]
            for target in (root / name, path.parent / name):
                if target.exists():
                    yield target
                    break


def circles(root):
    """Return files that include each other, directly or by way of others; a header and its .cpp count as one."""
    includes = {}
    for path in sources(root):
        unit = path.relative_to(root).with_suffix("").as_posix()
        includes.setdefault(unit, set()).update(
            target.resolve().relative_to(root.resolve()).with_suffix("").as_posix() for target in includes_of(root, path))
    # Files that only include removed files are removed, until only circles and files that lead to them are left.
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


def problems(root):
    for unit in circles(root):
        yield f"{unit}: it is part of a circle of files that include each other"
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        room = room_of(name)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            target = found.group(1)
            if room.startswith("core/") and IMPURE.match(target):
                yield f"{name}:{number}: the core is pure, but includes {target}"
            if target[0] == '"' and room_of(target[1:-1]) and not allowed(room, target[1:-1]):
                yield f"{name}:{number}: {room} may not know {target[1:-1]}"


def main():
    root = pathlib.Path(sys.argv[1])
    folders = [root / top for top in ("core", "bundle", "daemon", "client", "module", "dbus", "tests")]
    missing = [str(folder) for folder in folders if not folder.is_dir()]
    if missing:
        sys.exit(f"no such folder: {', '.join(missing)}")
    found = [problem for problem in problems(root) if not problem.startswith("build/")]
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


main()
