"""How the driver itself divides a GPU between two processes, without cgpu: the simulator's model guesses these facts."""
import os
import statistics

from job import Failed
from runtime import compile_here, must_be_real


def rows(bench):
    bench.check("time slices of two contexts, without cgpu", "a figure", lambda: slices(bench))


def gaps_of(job):
    """Return (start, length) of each time in which the kernel did not run, and when the kernel began and ended; all in ns."""
    if job.wait(60) != 0:
        raise Failed(job.last_words())
    return [tuple(map(int, line.split())) for line in job.facts("gap")], tuple(map(int, job.fact("looked").split()))


def runs_between(gaps, begin, end):
    """Return how long it had the GPU each time between two gaps, within these bounds."""
    inside = [gap for gap in gaps if begin <= gap[0] and gap[0] + gap[1] <= end]
    return [after[0] - (before[0] + before[1]) for before, after in zip(inside, inside[1:])]


def slices(bench):
    must_be_real(bench)
    program = os.path.join(bench.node.folder, "slices")
    compile_here(bench, "slices.cu", program)
    lone, _ = gaps_of(bench.bare("lone", [program, "500"]))
    jobs = [bench.bare(f"slices{number}", [program, "3000"]) for number in (1, 2)]
    seen = [gaps_of(job) for job in jobs]
    begin = max(bounds[0] for _, bounds in seen)
    end = min(bounds[1] for _, bounds in seen)
    if end - begin < 500_000_000:
        raise Failed("the two kernels were not at work together for half a second")
    turns = [length for gaps, _ in seen for length in runs_between(gaps, begin, end)]
    away = [length for gaps, _ in seen for start, length in gaps if begin <= start and start + length <= end]
    if not turns:
        return None, f"{len(lone)} gaps alone; together no turns were seen: the kernels ran beside each other or in whole"
    return None, (f"alone: {len(lone)} gaps over 20 us in 0.5 s; together: {len(turns)} turns of {statistics.median(turns) / 1e3:.0f} us "
                  f"(median; {min(turns) / 1e3:.0f} to {max(turns) / 1e3:.0f}), away for {statistics.median(away) / 1e3:.0f} us "
                  f"(median), so a switch takes about {(statistics.median(away) - statistics.median(turns)) / 2e3:.0f} us")
