"""Programs that keep a simulated GPU busy, each tenant in its own instance, and the GPU time that its ledger shows for them."""
import json
import os
import pathlib
import signal
import subprocess
import sys


def ledger():
    return json.loads(subprocess.check_output(["simgpu", "ledger", "--json"]))


def gpu_ns(book, tenants):
    """Return the GPU time so far of each tenant, a list of its processes, in nanoseconds."""
    served = {entry["pid"]: sum(gpu["gpu_ns"] for gpu in entry["gpus"]) for entry in book["processes"] if entry["alive"]}
    return [sum(served.get(pid, 0) for pid in pids) for pids in tenants]


def children_of(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Tenants:
    """Programs `burn`, until the end of the `with`: a list of each tenant's pids. One tenant for each weight; `first`: what
    the first one's burn is told, `others`: what the others' are. `high_priority`: the first one has it."""

    def __init__(self, weights, first, others, processes=1, high_priority=False):
        self.processes = processes
        self.jobs = []
        for number, weight in enumerate(weights):
            burn = ["burn", "--forever", *(first if number == 0 else others)]
            if processes > 1:
                burn = ["sh", "-c", (" ".join(burn) + " & ") * processes + "wait"]
            self.jobs.append(subprocess.Popen(
                ["cgpuctl", "run", "--quiet", "--name", f"tenant{number}", "--mem", "600MiB", "--weight", str(weight),
                 "--prio", "high" if high_priority and number == 0 else "normal", "--", *burn],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))

    def __enter__(self):
        for job in self.jobs:
            for _ in range(self.processes):
                if job.stdout.readline() != "ready\n":
                    sys.exit("a tenant ended before it began")
        self.tenants = [children_of(job.pid) if self.processes > 1 else [job.pid] for job in self.jobs]
        return self.tenants

    def __exit__(self, *_):
        for pids in self.tenants:
            for pid in pids:
                os.kill(pid, signal.SIGTERM)
        for job in self.jobs:
            job.communicate()


def set_gpu(what, value):
    """`what`: policy, max-inst, prio-ratio."""
    subprocess.check_call(["cgpuctl", f"set-{what}", "--quiet", "0", str(value)])
