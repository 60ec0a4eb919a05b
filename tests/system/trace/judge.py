#!/usr/bin/env python3
"""Checks a trace of cgpuctl against Chrome's Trace Event Format, and against the simulator's ledger.

usage: judge.py TRACE LEDGER NAME=PID...

The tenants named began and ended within the trace. Of each, the GPU time of its turns and that of its measured work is the
ledger's within 1 %. On every track, spans are apart or one is within the other."""
import json
import sys

MOST_DIFFERENCE = 0.01
MOST_OF_LENGTH = 0.03  # of the spans of work: the last part may have found no room
PHASES = {"X", "i", "C", "M"}
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def check_format(events):
    for event in events:
        expect(isinstance(event.get("name"), str) and event["name"], f"an event without a name: {event}")
        expect(event.get("ph") in PHASES, f"an unknown phase: {event}")
        expect(isinstance(event.get("pid"), int), f"an event without a process: {event}")
        if event["ph"] == "M":
            continue
        expect(isinstance(event.get("ts"), (int, float)) and event["ts"] >= 0, f"no time: {event}")
        expect(isinstance(event.get("tid"), int), f"no track: {event}")
        if event["ph"] == "X":
            expect(event.get("dur", -1) >= 0, f"no duration: {event}")
        if event["ph"] == "C":
            expect(all(isinstance(value, (int, float)) for value in event["args"].values()), f"no number: {event}")


def check_nesting(spans):
    """In nanoseconds, as Perfetto has them."""
    tracks = {}
    for span in spans:
        begin = round(span["ts"] * 1000)
        tracks.setdefault(span["tid"], []).append((begin, -(begin + round(span["dur"] * 1000)), span["name"]))
    for track, all_of_it in tracks.items():
        open_until = []
        for begin, negative_end, name in sorted(all_of_it):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            expect(not open_until or -negative_end <= open_until[-1], f"track {track}: {name} at {begin} reaches out of another span")
            open_until.append(-negative_end)


def ledger_ns(ledger, pid):
    return sum(gpu["gpu_ns"] for process in ledger["processes"] if process["pid"] == pid for gpu in process["gpus"])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    with open(sys.argv[2], encoding="utf-8") as file:
        ledger = json.load(file)
    check_format(events)
    spans = [event for event in events if event["ph"] == "X"]
    check_nesting(spans)
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    for tenant in sys.argv[3:]:
        name, pid = tenant.split("=")
        process = [number for number, its in names.items() if its == name]
        expect(len(process) == 1, f"{name} has {len(process)} processes in the trace")
        due = ledger_ns(ledger, int(pid)) / 1000
        expect(due > 0, f"the ledger has no GPU time of {name}")
        of_it = [span for span in spans if span["pid"] in process]
        for what in ("turn", "work"):
            got = sum(span["args"]["gpu_time_us"] for span in of_it if span["name"] == what)
            print(f"{name}: {what} {got / 1e6:.4f} s, by the ledger {due / 1e6:.4f} s: {(got / due - 1) * 100:+.2f} %")
            expect(abs(got - due) <= MOST_DIFFERENCE * due, f"{name}: {what} adds up to {got} us, by the ledger {due}")
        drawn = sum(span["dur"] for span in of_it if span["name"] == "work")
        print(f"{name}: its spans of work are {drawn / 1e6:.4f} s long together: {(drawn / due - 1) * 100:+.2f} %")
        expect(abs(drawn - due) <= MOST_OF_LENGTH * due, f"{name}: its spans of work are {drawn} us long, by the ledger {due}")
        expect(any(span["name"] == "waits" for span in of_it), f"{name} never waited")
        # Whose turn it is, on the GPU's own track.
        mine = sum(span["dur"] for span in of_it if span["name"] == "turn")
        gpus = sum(span["dur"] for span in spans if span["pid"] == 1 and span["name"] == name)
        expect(abs(mine - gpus) < 1, f"{name}: its turns last {mine} us, and {gpus} us by the GPU's track")
    for failure in failures[:20]:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


main()
