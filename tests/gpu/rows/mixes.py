"""Two programs of different kinds with equal weights under the policy weighted. Each one's part is what it finishes a second,
compared with what it finishes alone in a job: so their GPU times can be compared, although their work differs."""
import pytorch
from bench import Skip
from shares import rates

WINDOW = 5  # s
BOUND = 5  # points


def rows(bench):
    bench.node.cgpuctl("set-policy", "0", "weighted")
    alone = {}
    # On simulated GPUs the first and the last show that the rows run.
    for what, keeps_busy, make in list(programs(bench))[::9 if bench.simulated else 1]:
        expected = f"50 % of what each gets alone, within {BOUND} points" if keeps_busy else "a figure"
        bench.check(f"{what}, beside kernels of 1 ms", expected, lambda: pair(bench, what, make, keeps_busy, alone))
    bench.node.cgpuctl("set-policy", "0", "preemptive")


def programs(bench):
    """Yield the name, whether it keeps the GPU busy when it is alone, and what makes the command."""
    yield "kernels of 100 us", True, lambda: burn("100")
    yield "kernels of 50, 200 and 3000 us by turns", True, lambda: burn("50,200,3000")
    yield "kernels of 20 or 200 us by chance, all of one function", True, lambda: burn("20,200", "--by-chance")
    yield "two streams of kernels of 100 and 900 us", True, lambda: burn("100,900", "--streams", "2")
    yield "graphs of 20 kernels of 50 us", True, lambda: burn("50", "--graph", "20")
    yield "empty kernels, as many as go", False, lambda: burn("0")
    yield "kernels of 10 us, each waited for", False, lambda: burn("10", "--sync-every", "1")
    yield "kernels of 200 us, each waited for", False, lambda: burn("200", "--sync-every", "1")
    yield "kernels of 50 us, one in 200 us", False, lambda: burn("50", "--pace-us", "200")
    yield "PyTorch training", False, lambda: pytorch.command(bench, "train")


def burn(lengths, *flags):
    return ["burn", "--forever", "--report", "--kernel-us", lengths, *flags]


def alone_rate(bench, what, make, alone):
    if what not in alone:
        alone[what] = rates(bench, [bench.job("alone", make(), "4GiB")], window(bench))[0]
        bench.end_jobs()
    return alone[what]


def window(bench):
    return 1 if bench.simulated else WINDOW


def pair(bench, what, make, keeps_busy, alone):
    other = lambda: burn("1000")
    wanted = alone_rate(bench, what, make, alone), alone_rate(bench, "kernels of 1 ms", other, alone)
    if not all(wanted):
        raise Skip("one of them finished nothing alone")
    jobs = [bench.job("mixed", make(), "4GiB"), bench.job("other", other(), "4GiB")]
    parts = [100 * rate / right for rate, right in zip(rates(bench, jobs, window(bench)), wanted)]
    held = all(abs(part - 50) <= BOUND for part in parts) if keeps_busy else None
    return held, (f"{parts[0]:.2f} % of {wanted[0]:.1f} a second, and {parts[1]:.2f} % of {wanted[1]:.1f} "
                  f"(tenants' counts, {window(bench)} s)")
