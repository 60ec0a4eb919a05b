"""Daemons and jobs that are killed, and module versions that are exchanged under running jobs."""
import json
import os
import signal

import pytorch
from bench import GIB, MIB, Skip, mib
from job import Failed
from memory import GRANULE


def rows(bench):
    bench.check("cgpud killed under a job", "the job computes on, alone and with the next cgpud, which has its limit again",
                lambda: daemon_killed(bench))
    bench.check("a job killed", "its memory is back within 15 s, to 2 MiB; nothing is listed", lambda: job_killed(bench))
    bench.check("twenty hot upgrades, there and back, of two jobs that compute",
                "both go on; their memory stays the same; a limit holds afterwards", lambda: upgraded(bench))


def finished(job):
    found = job.facts("finished")
    return int(found[-1].split()[1]) if found else 0


def goes_on(bench, job, when):
    seen = finished(job)
    if not bench.wait(10, lambda: finished(job) > seen + 20):
        raise Failed(f"the job does not compute {when}: {job.last_words()}")


def daemon_killed(bench):
    go = os.path.join(bench.node.folder, "go")
    script = (f"burn --forever --report & until test -e {go}; do sleep 0.1; done; "
              "alloc --mib 64 --until-fail; echo over; wait")
    job = bench.job("alive", ["sh", "-c", script], "3GiB")
    job.wait_for("ready", 60)
    goes_on(bench, job, "at first")
    before = bench.node.instances()
    bench.node.kill_cgpud()
    goes_on(bench, job, "without cgpud")
    bench.node.start_cgpud()
    goes_on(bench, job, "with the next cgpud")
    same = [one["id"] for one in bench.node.instances()] == [one["id"] for one in before]
    with open(go, "wb"):
        pass
    job.wait_for("over", 60)
    got = job.number("allocated_mib")
    right = same and job.fact("result") == "2 CUDA_ERROR_OUT_OF_MEMORY" and got * MIB < 3 * GIB
    return right, f"{finished(job)} kernels; the same instances: {'yes' if same else 'no'}; then {job.fact('result')} after {got} MiB"


def job_killed(bench):
    before = bench.nvml.memory().used
    job = bench.job("killed", ["alloc", "--mib", "1024", "--hold"], "2GiB")
    job.wait_for("ready", 60)
    held = bench.nvml.memory().used - before
    os.kill(job.pid, signal.SIGKILL)
    job.wait(10)
    back = bench.wait(15, lambda: bench.nvml.memory().used <= before + GRANULE)
    gone = bench.wait(15, lambda: not bench.node.instances())
    return back and gone and held >= GIB, \
        f"the card lacked {mib(held)}, after the kill {mib(bench.nvml.memory().used - before)}; " \
        f"{'nothing' if gone else 'something'} listed"


def upgraded(bench):
    folder = os.path.join(bench.node.folder, "next")
    own = json.loads(bench.node.cgpuctl("status", "--json"))["module_version"]
    other = os.listdir(folder)[0]
    bench.node.cgpuctl("module", "add", os.path.join(folder, other))
    go = os.path.join(bench.node.folder, "filled")
    script = (f"burn --forever --report & until test -e {go}; do sleep 0.1; done; "
              "alloc --mib 64 --until-fail; echo over; wait")
    jobs = [bench.job("hot1", ["sh", "-c", script], "3GiB")]
    try:
        jobs.append(bench.job("hot2", pytorch.command(bench, "train"), "4GiB"))
    except Skip:
        jobs.append(bench.job("hot2", ["burn", "--forever", "--report", "--threads", "2", "--mib", "100"], "4GiB"))
    for job in jobs:
        job.wait_for("finished", 120)
        goes_on(bench, job, "at first")
    bench.wait(5, lambda: False)  # PyTorch's first steps allocate
    before = bench.nvml.processes()
    for _ in range(10):
        for version in (other, own):
            bench.node.cgpuctl("upgrade", "--hot", version, "-q")
    for job in jobs:
        goes_on(bench, job, "after the upgrades")
    after = bench.nvml.processes()
    with open(go, "wb"):
        pass
    jobs[0].wait_for("over", 60)
    got = jobs[0].number("allocated_mib")
    right = before == after and jobs[0].fact("result") == "2 CUDA_ERROR_OUT_OF_MEMORY" and got * MIB < 3 * GIB
    return right, (f"{own} to {other} and back; NVML's bytes by process {'as before' if before == after else f'{before}, then {after}'}; "
                   f"then {jobs[0].fact('result')} after {got} MiB")
