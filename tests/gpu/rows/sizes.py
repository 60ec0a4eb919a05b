"""What single allocations take from the card according to the driver, and what a job is charged for them."""
from bench import Skip
from job import Failed


def rows(bench):
    figures = {}
    bench.check("the sizes program, alone and in a job", "both run to their end", lambda: measure(bench, figures))
    for kind in figures.get("driver", {}):
        bench.check(kind, "charged no less than the driver takes", lambda: compare(figures, kind))


def sizes_of(job):
    if job.wait(60) != 0:
        raise Failed(job.last_words())
    return {line.split()[0]: int(line.split()[1]) for line in job.facts("size")}


def measure(bench, figures):
    figures["driver"] = sizes_of(bench.bare("sizes-alone", ["sizes"]))
    figures["charged"] = sizes_of(bench.job("sizes", ["sizes"], "4GiB"))
    return len(figures["driver"]) > 0, f"{len(figures['driver'])} kinds"


def compare(figures, kind):
    if kind not in figures.get("charged", {}):
        raise Skip("there is no figure of it in a job")
    driver, charged = figures["driver"][kind], figures["charged"][kind]
    return charged >= driver, f"the driver takes {driver} bytes each, charged {charged}"
