#!/usr/bin/env python3
"""GiB x hours that processes held, by the simulator's trace of every change of what they hold.

usage: memory_hours.py TRACE PID…

TRACE is what `simgpu trace` printed. Prints the sum over all GPUs of these processes (by the pids of their own namespace).
"""
import sys

GIB = 1 << 30
HOUR_NS = 3600 * 10**9


def main():
    path, *wanted = sys.argv[1:]
    held = {}  # (serial, gpu) -> (time, bytes)
    byte_ns = 0
    with open(path, encoding="utf-8") as trace:
        for line in trace:
            words = line.split(maxsplit=7)
            if words[0] == "locked" or words[2] not in wanted:
                continue
            time, serial, gpu = int(words[0]), words[1], words[3]
            since, before = held.get((serial, gpu), (time, 0))
            byte_ns += before * (time - since)
            held[(serial, gpu)] = (time, sum(int(each) for each in words[4:7]))
    if any(now for _, now in held.values()):
        sys.exit("memory_hours.py: some still hold memory")
    print(byte_ns / GIB / HOUR_NS)


main()
