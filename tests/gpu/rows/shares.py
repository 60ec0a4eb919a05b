"""Shares of the compute under the policy weighted, and under others. The tenants' own counts of finished kernels or steps
within a common window decide: both do the same work, so the ratio of the counts is the ratio of their GPU times."""
import pytorch
from bench import Skip
from job import Failed

WINDOW = 8  # s
SETTLE = 2  # s, in which both are at work before the window begins
BOUND = 3  # points
WEIGHTS = [(1, 1), (1, 2), (2, 18)]  # slices of 20: 1:1, 1:2, 10:90


def rows(bench):
    bench.node.cgpuctl("set-policy", "0", "weighted")
    for load, make in (("kernels of 1 ms (driver API)", burn),
                       ("PyTorch training", lambda: pytorch.command(bench, "train"))):
        alone = {}
        bench.check(f"{load}, alone in a job", "a figure", lambda: single(bench, make, alone))
        bench.check(f"{load}, two of them without cgpu", "a figure", lambda: unmanaged(bench, make, alone))
        for weights in WEIGHTS:
            wanted = [100 * weight / sum(weights) for weight in weights]
            bench.check(f"{load}, weights {weights[0]}:{weights[1]}",
                        f"{wanted[0]:.1f} % and {wanted[1]:.1f} %, within {BOUND} points",
                        lambda: pair(bench, make, weights, wanted, alone))
    others(bench)
    bench.node.cgpuctl("set-policy", "0", "preemptive")


def others(bench):
    """Policies under which a job's part depends on max_inst, or on how many there are."""
    alone = {}
    bench.check("kernels of 1 ms, alone in a job, for the other policies", "a figure", lambda: single(bench, burn, alone))
    for policy, weights, wanted in (("preemptive", (1, 1, 1), 3 * [100 / 3]), ("fixed", (5, 10), [25, 50]),
                                    ("proportional", (1, 2), [100 / 3, 200 / 3]), ("fair-share", (1, 1), [25, 25])):
        bench.check(f"kernels of 1 ms, policy {policy}, {len(weights)} jobs{', max_inst 4' if policy == 'fair-share' else ''}"
                    f"{', weights 5 and 10 of 20' if policy == 'fixed' else ''}",
                    f"{', '.join(f'{part:.1f}' for part in wanted)} % of what one alone gets, within {BOUND} points",
                    lambda: parts(bench, policy, weights, wanted, alone))


def burn():
    return ["burn", "--forever", "--report", "--kernel-us", "1000"]


def parts(bench, policy, weights, wanted, alone):
    if "rate" not in alone:
        raise Skip("it did not run alone")
    bench.node.cgpuctl("set-policy", "0", policy)
    if policy == "fair-share":
        bench.node.cgpuctl("set-max-inst", "0", "4")
    try:
        jobs = [bench.job(f"tenant{number}", burn(), "4GiB", "--weight", str(weight))
                for number, weight in enumerate(weights, start=1)]
        got = [100 * rate / alone["rate"] for rate in rates(bench, jobs)]
    finally:
        bench.end_jobs()
        if policy == "fair-share":
            bench.node.cgpuctl("set-max-inst", "0", "20")
    return all(abs(one - right) <= BOUND for one, right in zip(got, wanted)), \
        f"{', '.join(f'{one:.2f}' for one in got)} % (tenants' counts, {WINDOW} s)"


def reports(job):
    return [tuple(map(int, line.split())) for line in job.facts("finished")]


def count_at(points, time):
    """Return the number finished by then; between two reports it is interpolated."""
    for (before, done), (after, more) in zip(points, points[1:]):
        if before <= time <= after:
            return done + (more - done) * (time - before) / (after - before)
    raise Failed("a tenant reported nothing in the window")


def rates(bench, jobs, window=WINDOW):
    """Return what each one finished per second, within the window (in s) that begins when all are at work."""
    for job in jobs:
        job.wait_for("finished", 120)
    begin = max(reports(job)[0][0] for job in jobs) + SETTLE * 10**9
    end = begin + window * 10**9
    if not bench.wait(window + SETTLE + 60, lambda: all(reports(job)[-1][0] > end or not job.runs() for job in jobs)):
        raise Failed("a tenant stopped reporting")
    return [(count_at(reports(job), end) - count_at(reports(job), begin)) / window for job in jobs]


def single(bench, make, alone):
    job = bench.job("alone", make(), "4GiB")
    alone["rate"] = rates(bench, [job])[0]
    return None, f"{alone['rate']:.1f} finished a second"


def unmanaged(bench, make, alone):
    if "rate" not in alone:
        raise Skip("it did not run alone")
    got = rates(bench, [bench.bare(f"bare{number}", make()) for number in (1, 2)])
    return None, (f"{100 * got[0] / sum(got):.2f} % and {100 * got[1] / sum(got):.2f} % of {sum(got):.1f} finished a second, which is "
                  f"{100 * sum(got) / alone['rate']:.1f} % of one alone in a job")


def pair(bench, make, weights, wanted, alone):
    if "rate" not in alone:
        raise Skip("it did not run alone")
    jobs = [bench.job(f"tenant{number}", make(), "4GiB", "--weight", str(weight))
            for number, weight in enumerate(weights, start=1)]
    got = rates(bench, jobs)
    share = [100 * one / sum(got) for one in got]
    return abs(share[0] - wanted[0]) <= BOUND, \
        (f"{share[0]:.2f} % and {share[1]:.2f} % of {sum(got):.1f} finished a second, which is "
         f"{100 * sum(got) / alone['rate']:.1f} % of one alone (tenants' counts, {WINDOW} s)")
