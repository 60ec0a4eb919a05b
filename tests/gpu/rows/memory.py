"""Every way of allocating device memory stops at the job's limit. NVML's figures of the processes decide."""
import os

from bench import GIB, MIB, Skip, mib
from nvml import Watch

LIMIT = 2 * GIB  # a real card's context alone takes up to some 600 MiB
PIECE = 64  # MiB
SHARED = 600 * MIB
GRANULE = 2 * MIB
EXACT = ["plain", "pitch", "async", "pool", "mapped", "graph", "captured", "external"]
BOUNDED = ["array-1d", "array", "array-3d", "layered", "mipmapped"]  # charged by an upper bound


def rows(bench):
    charges = {}
    for how in EXACT + BOUNDED:
        bench.check(f"{how}, in pieces of {PIECE} MiB until one is refused",
                    f"CUDA_ERROR_OUT_OF_MEMORY; at no time more than {mib(LIMIT)} held, at the end no less than "
                    f"{mib(LIMIT - 160 * MIB)}", lambda: until_refused(bench, how, charges))
    for how in EXACT + BOUNDED:
        exact = how in EXACT
        bench.check(f"{how}: charged against the driver's figure", "the same within 2 MiB" if exact else
                    "no less than the driver's, within 2 MiB", lambda: compare(charges, how, exact))
    bench.check("four processes of one job", f"together no more than {mib(6 * GIB)}; the last one's allocations end with "
                "CUDA_ERROR_OUT_OF_MEMORY", lambda: four_processes(bench))
    bench.check("memory of one process, opened by another of the job (IPC)",
                "its content is seen; charged once: what is charged is what the card lacks, within half of that memory",
                lambda: shared(bench))
    bench.check("a CUDA context alone", "charged at the driver's figure within 2 MiB", lambda: context(bench))


def charged_as(bench, name, wanted):
    """Return what is charged to it, as soon as that is the expected value or the time for it is over."""
    bench.wait(5, lambda: abs(bench.node.charged(name) - wanted) <= GRANULE)
    return bench.node.charged(name)


def judge_name(watch):
    return "NVML: its processes hold" if watch.by_process() else "NVML (no figures by process here): the card lacks"


def until_refused(bench, how, charges):
    with Watch(bench.nvml) as watch:
        job = bench.job(how, ["alloc", "--how", how, "--mib", str(PIECE), "--until-fail", "--hold"], "2GiB")
        job.wait_for("ready", 60)
        held = watch.held()
        charges[how] = (charged_as(bench, how, held), held)
    right = job.fact("result") == "2 CUDA_ERROR_OUT_OF_MEMORY" and watch.peak <= LIMIT and held >= LIMIT - 160 * MIB
    return right, (f"{job.fact('result')} after {job.fact('allocated_mib')} MiB; {judge_name(watch)} {mib(held)}, at most "
                   f"{mib(watch.peak)}; the card lacks {mib(watch.card())}")


def compare(charges, how, exact):
    if how not in charges:
        raise Skip("the allocations brought no figures")
    charged, driver = charges[how]
    right = abs(charged - driver) <= GRANULE if exact else charged >= driver - GRANULE
    return right, f"charged {mib(charged)}, the driver's figure {mib(driver)}"


def four_processes(bench):
    # The three have their part before the last one takes what is left.
    first = os.path.join(bench.node.folder, "first")
    script = (f"for i in 1 2 3; do alloc --mib 600 --hold >{first}.$i & done; "
              f'until [ "$(cat {first}.* | grep -c ready)" = 3 ]; do sleep 0.1; done; '
              f"cat {first}.* | grep result; exec alloc --mib 32 --until-fail --hold")
    with Watch(bench.nvml) as watch:
        job = bench.job("four", ["sh", "-c", script], "6GiB")
        job.wait_for("ready", 60)
        held = watch.held()
    results = sorted(job.facts("result"))
    right = results == ["0 CUDA_SUCCESS"] * 3 + ["2 CUDA_ERROR_OUT_OF_MEMORY"] and watch.peak <= 6 * GIB
    return right, f"{', '.join(results)}; {judge_name(watch)} {mib(held)}, at most {mib(watch.peak)}"


def shared(bench):
    with Watch(bench.nvml) as watch:
        job = bench.job("shared", ["shared", "--mib", str(SHARED // MIB)], "3GiB")
        job.wait_for("ready", 60)
        card = watch.card()
        charged = charged_as(bench, "shared", card)
    right = job.facts("wrong") == ["0"] and abs(charged - card) <= SHARED // 2
    return right, (f"wrong bytes: {', '.join(job.facts('wrong'))}; charged {mib(charged)}, the card lacks {mib(card)}, "
                   f"{judge_name(watch)} {mib(watch.held())}")


def context(bench):
    estimate = "unknown"
    with open("/usr/lib/cgpu/cgpud.yaml", encoding="utf-8") as file:
        for line in file:
            if line.startswith("context_estimate_mib:"):
                estimate = line.split()[1]
    with Watch(bench.nvml) as watch:
        job = bench.job("context", ["alloc", "--mib", "0", "--hold"], "2GiB")
        job.wait_for("ready", 60)
        driver = watch.held()
        charged = charged_as(bench, "context", driver)
    return abs(charged - driver) <= GRANULE, (f"{judge_name(watch)} {mib(driver)}; charged {mib(charged)}; before the first "
                                              f"one was seen, {estimate} MiB are booked (context_estimate_mib)")
