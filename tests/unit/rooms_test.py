#!/usr/bin/env python3
"""Reads every #include of the tree and fails where an arrow points where ARCHITECTURE.md says it must not.

usage: rooms_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

# What each room may include, beside itself. The longest matching name of a room counts.
MAY = {
    "core/wire": [],
    "core/model": [],
    "core/elf": [],
    "core/request": ["core/model"],
    "core/admission": ["core/model", "core/request"],
    "core/schedule": ["core/model"],
    "core/upgrade": ["core/model", "core/wire"],
    "bundle": ["core"],
    "daemon/app": ["core"],
    "daemon/bus": ["core", "daemon/app", "dbus"],
    "daemon/config": ["core"],
    "daemon/store": ["core", "daemon/app"],
    "daemon/link": ["core", "daemon/app"],
    "daemon/gpu": ["core", "daemon/app"],
    "daemon/modules": ["core", "bundle", "daemon/app"],
    "daemon/system": ["core", "daemon/app"],
    "daemon": ["core", "daemon"],
    "client/node": ["core/model", "core/request", "dbus"],
    "client/run": ["core", "client/node"],
    "client/enter": ["core", "client/node", "client/run"],
    "client/modules": ["core", "bundle", "client/node", "client/run"],
    "client/runtime": ["core", "client/node", "client/run"],
    "client/cgpuctl": ["core", "bundle", "client/modules", "client/node", "client/run"],
    "module/generate": [],
    "module/engine": ["core/wire"],
    "module/bundle": ["core", "bundle", "module/engine/api.hpp"],
    "module/front": ["core/wire", "module/engine/api.hpp", "module/generate"],
    "dbus": [],
    "tests/sim": [],
    "tests/peer": ["core/wire"],
    "tests/programs": ["core/wire", "tests/sim/include", "tests/peer"],
    "tests/fuzz": ["core", "bundle", "daemon", "client", "tests/unit"],
    "tests/unit": ["core", "bundle", "daemon", "client", "module", "dbus", "tests/peer"],
}
# The core is pure: what reaches outside stays outside.
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


def problems(root):
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        room = room_of(name)
        if path.suffix not in (".hpp", ".cpp", ".h", ".c") or room is None:
            continue
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
