"""Daemons and jobs that are killed."""
import os
import signal

from bench import GIB, MIB, mib
from job import Failed
from memory import GRANULE


def rows(bench):
    bench.check("cgpud killed under a job", "the job computes on, alone and with the next cgpud, which has its limit again",
                lambda: daemon_killed(bench))
    bench.check("a job killed", "its memory is back within 15 s, to 2 MiB; nothing is listed", lambda: job_killed(bench))


def finished(job):
    found = job.facts("finished")
    return int(found[-1].split()[1]) if found else 0


def goes_on(bench, job, when):
    seen = finished(job)
    if not bench.wait(10, lambda: finished(job) > seen + 100):
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
