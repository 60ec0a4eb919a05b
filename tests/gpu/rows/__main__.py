"""Writes the table. Called by tests/gpu/inside, or by tests/gpu/run with --refused where nothing can be run."""
import argparse
import datetime
import importlib
import os
import platform
import shutil
import signal
import sys
import time

from bench import SIMULATED, Bench
from node import Node, NodeError
from nvml import Nvml, NvmlError
from table import Row, Table

GROUPS = ["memory", "refused", "sizes", "views", "runtime", "pytorch", "frameworks", "firsts", "lives", "shares", "mixes", "charges",
          "overhead", "slices", "witness"]
CANNOT = 3


def arguments():
    parser = argparse.ArgumentParser(prog="tests/gpu/run", add_help=False)
    parser.add_argument("--node", help="the unpacked bundle")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--refused", help="why nothing can be run")
    parser.add_argument("--row", default="", help="only rows whose name contains this")
    parser.add_argument("groups", nargs="*")
    parsed = parser.parse_args()
    unknown = set(parsed.groups) - set(GROUPS)
    if unknown:
        parser.error(f"no group {', '.join(sorted(unknown))}. Try: {' '.join(GROUPS)}")
    return parsed


def head(nvml, folder):
    """Say what it ran on, so that nobody takes a simulated GPU's table for a real one's."""
    lines = {}
    if os.path.exists(SIMULATED):
        lines["SIMULATED"] = "these GPUs are simulated; nothing here says anything about a real one"
    if nvml is not None:
        lines["card"] = f"{nvml.name()}, {nvml.memory().total >> 20} MiB, sm_{nvml.capability()}"
        lines["driver"] = f"{nvml.driver()}, CUDA {nvml.cuda()}"
    lines["machine"] = f"Linux {platform.release()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    if folder is not None:
        with open(os.path.join(folder, "version"), encoding="utf-8") as file:
            lines["build"] = ", ".join(file.read().split("\n")).strip(", ")
    lines["date"] = datetime.date.today().isoformat()
    return lines


def cannot(table, why):
    table.add(Row("start", "whether this machine can run it", "it can", why, "no"))
    return CANNOT


def start(bench):
    """Check that `cgpuctl run` works at all here: otherwise each row would fail for the same reason."""
    job = bench.job("start", ["true"], "1GiB")
    status = job.wait(60)
    return status == 0, f"cgpuctl run -- true: status {status}{': ' + job.last_words() if status else ''}"


def run(options):
    table = Table(options.out, {})
    try:
        nvml = Nvml()
    except NvmlError as error:
        nvml, no_gpu = None, str(error)
    table.head = head(nvml, options.node)
    if options.refused is not None:
        return cannot(table, options.refused)
    if nvml is None:
        return cannot(table, no_gpu)
    node = Node(options.node)
    try:
        node.start()
        bench = Bench(node, nvml, table, time.monotonic() + options.seconds)
        try:
            bench.begin("start")
            bench.check("whether this machine can run it", "a job starts and ends", lambda: start(bench))
            bench.only = options.row
            if table.count("no"):
                return CANNOT
            for group in options.groups or GROUPS:
                bench.begin(group)
                importlib.import_module(group).rows(bench)
        finally:
            bench.end_jobs()
    except NodeError as error:
        return cannot(table, str(error))
    finally:
        node.stop()
        shutil.copy(os.path.join(options.node, "cgpud.log"), options.out)
    print(table.summary())
    return 1 if table.count("no") else 0


def end(*_):
    sys.exit(130)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    sys.exit(run(arguments()))
