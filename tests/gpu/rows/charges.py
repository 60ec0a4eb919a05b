"""The GPU time that a job is charged, compared with what its kernels took: the number that it finished, by its own count, times
the length of one, by how many a program without cgpu finishes in a second if it does nothing else."""
import time

from job import Failed
from shares import WINDOW, count_at, rates, reports

BOUND = 10  # per cent
WAITED = 5  # the same for kernels that are each waited for: with what the launch calls take they would be charged 119 (of 20 us)
SETTLE = 2  # s, in which the engine learns how long the kernels are
PROGRAMS = [("kernels of 100 us, each waited for", 100, ["--sync-every", "1"], WAITED),
            ("kernels of 20 us, each waited for", 20, ["--sync-every", "1"], WAITED),
            ("kernels of 5 us, one in 20 us", 5, ["--pace-us", "20"], BOUND),
            ("kernels of 100 us, one in 300 us", 100, ["--pace-us", "300"], BOUND),
            ("kernels of 20 us, one in 100 us", 20, ["--pace-us", "100"], BOUND),
            ("kernels of 1 ms, as many as go", 1000, [], BOUND),
            ("kernels of 100 us, as many as go", 100, [], BOUND)]


def rows(bench):
    bench.node.cgpuctl("set-policy", "0", "weighted")
    lengths = {}
    # On simulated GPUs three show that the rows run.
    for what, us, flags, bound in PROGRAMS[::3 if bench.simulated else 1]:
        bound = BOUND if bench.simulated else bound  # a simulated one shares its processors with other tests
        least, most = 100 - bound, 100 + bound
        bench.check(what, f"{least:.0f} to {most:.0f} % of what they took", lambda: charge(bench, us, flags, least, most, lengths))
    bench.node.cgpuctl("set-policy", "0", "preemptive")


def command(us, *flags):
    return ["burn", "--forever", "--report", "--kernel-us", str(us), *flags]


def window(bench):
    return 2 if bench.simulated else WINDOW / 2


def length(bench, us, lengths):
    """Return how long one kernel takes, in seconds."""
    if us not in lengths:
        lengths[us] = 1 / rates(bench, [bench.bare("alone", command(us))], window(bench))[0]
        bench.end_jobs()
    return lengths[us]


def gpu_time(bench):
    """Return the GPU time that the only job was charged, in seconds, and the time of that figure."""
    before = time.monotonic_ns()
    found = bench.node.instances()
    if len(found) != 1:
        raise Failed(f"{len(found)} jobs are listed")
    return found[0]["gpus"][0]["gpu_time_seconds"], (before + time.monotonic_ns()) / 2


def charge(bench, us, flags, least, most, lengths):
    each = length(bench, us, lengths)
    job = bench.job("charged", command(us, *flags), "2GiB")
    job.wait_for("finished", 120)
    time.sleep(SETTLE)
    first, begin = gpu_time(bench)
    time.sleep(window(bench))
    last, end = gpu_time(bench)
    if not bench.wait(30, lambda: reports(job)[-1][0] > end or not job.runs()):
        raise Failed("it stopped reporting")
    took = (count_at(reports(job), end) - count_at(reports(job), begin)) * each
    percent = 100 * (last - first) / took
    return least <= percent <= most, \
        (f"{percent:.1f} %: {last - first:.3f} s are charged, and its kernels took {took:.3f} s, {each * 1e6:.1f} us each, "
         f"in {(end - begin) / 1e9:.2f} s")
