"""What cgpu costs a program that has the GPU to itself. The figures are ratios within one run: the program runs without cgpu
and in a job by turns."""
import statistics

import pytorch
from job import Failed
from shares import rates

TURNS = 5
POLICIES = ("weighted", "native")  # metered, and unmetered


def rows(bench):
    bench.check("calls that the module makes of the driver, without cgpu", "a figure", lambda: driver_costs(bench))
    for what, flags in (("empty kernels, as many as go", ["--kernel-us", "0"]),
                        ("empty kernels, each waited for", ["--kernel-us", "0", "--sync-every", "1"]),
                        ("graphs of 20 empty kernels", ["--kernel-us", "0", "--graph", "20"]),
                        ("kernels of 100 us", ["--kernel-us", "100"])):
        bench.check(what, "a figure: launches a second in a job, of those without cgpu", lambda: burn(bench, flags))
    bench.node.cgpuctl("set-policy", "0", "weighted")
    bench.check("PyTorch training steps", "a figure: steps a second in a job, of those without cgpu", lambda: train(bench))
    bench.node.cgpuctl("set-policy", "0", "preemptive")


def driver_costs(bench):
    job = bench.bare("costs", ["driver_costs"])
    if job.wait(60) != 0:
        raise Failed(job.last_words())
    return None, "in nanoseconds: " + "; ".join(job.facts("cost") + job.facts("length"))


def ratio_text(alone, managed):
    ratios = [one / other for one, other in zip(managed, alone)]
    return f"{statistics.median(ratios):.4f} (of {len(ratios)}: {min(ratios):.4f} to {max(ratios):.4f})"


def launch_rate(job):
    if job.wait(60) != 0:
        raise Failed(job.last_words())
    return job.number("launches") / (job.number("wall_us") / 1e6)


def burn(bench, flags):
    command = ["burn", "--seconds", "1", *flags]
    alone, managed = [], {policy: [] for policy in POLICIES}
    for _ in range(1 if bench.simulated else TURNS):  # simulated, the figures mean nothing
        alone.append(launch_rate(bench.bare("alone", command)))
        for policy, rate in managed.items():
            bench.node.cgpuctl("set-policy", "0", policy)
            rate.append(launch_rate(bench.job("managed", command, "2GiB")))
    return None, "; ".join([f"policy {policy} {ratio_text(alone, rate)}" for policy, rate in managed.items()] +
                           [f"{statistics.median(alone):.1f} launches a second alone"])


def train(bench):
    alone, managed = [], []
    command = pytorch.command(bench, "train")
    for start, into in ((lambda: bench.bare("alone", command), alone),
                        (lambda: bench.job("managed", command, "4GiB"), managed)):
        job = start()
        into.append(rates(bench, [job])[0])
        bench.end_jobs()
    return None, f"policy weighted {ratio_text(alone, managed)}; {alone[0]:.1f} steps a second alone"
