#!/usr/bin/env python3
"""Checks by the simulator's trace what containers held whose programs have the container's name.
usage: held_at_most.py TRACE LIMITS MIB
LIMITS has a line for each container: its name and its limit in MiB. A container never holds more than its limit on a GPU, and the
limits of the containers that have processes on a GPU are never more than MIB, which is what the GPU has.
"""
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fire"))
from history import MIB, Locked, read_trace  # noqa: E402


def read_limits(path):
    with open(path, encoding="utf-8") as lines:
        return {name: int(mib) * MIB for name, mib in map(str.split, lines)}


def main(trace, limits_path, mib):
    limits = read_limits(limits_path)
    processes = {}  # (serial, gpu) -> (container, bytes)
    most_held, most_promised = collections.Counter(), collections.Counter()
    seen = set()
    with open(trace, encoding="utf-8", errors="replace") as lines:
        for record in read_trace(lines):
            if isinstance(record, Locked) or record.name not in limits:
                continue
            seen.add(record.name)
            processes.pop((record.serial, record.gpu), None)
            if record.other + record.allocated:
                processes[record.serial, record.gpu] = record.name, record.other + record.allocated
            held = collections.Counter()
            for (_, gpu), (name, bytes_) in processes.items():
                if gpu == record.gpu:
                    held[name] += bytes_
            for name, bytes_ in held.items():
                if bytes_ > limits[name]:
                    sys.exit(f"{name} held {bytes_} bytes on GPU {record.gpu}, its limit is {limits[name]}")
            most_held[record.gpu] = max(most_held[record.gpu], held.total())
            promised = sum(limits[name] for name in held)
            most_promised[record.gpu] = max(most_promised[record.gpu], promised)
            if promised > int(mib) * MIB:
                sys.exit(f"the limits of the containers on GPU {record.gpu} were {promised // MIB} MiB: {sorted(held)}")
    for gpu in sorted(most_held):
        print(f"GPU {gpu} of {mib} MiB: held {most_held[gpu] // MIB}, promised {most_promised[gpu] // MIB} at most")
    if len(seen) < len(limits) / 4:
        sys.exit(f"only {len(seen)} of {len(limits)} containers are in the trace")
    if processes:
        sys.exit(f"something is held at the end: {processes}")


main(*sys.argv[1:])
