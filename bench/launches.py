"""Evaluates the blocks of launches that bench/launch has timed. usage: launches.py FILE.tsv OUT.json"""
import collections
import json
import statistics
import sys

BLOCK = 1000  # launches


def at(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def interruptions(bare, block_ns):
    """Return by how much more than the middle one, in ns, the piece at 99 % of the bare program takes if it is cut into pieces
    that take as long as the given block."""
    blocks = min(len(bare), max(1, round(block_ns / statistics.median(bare))))
    pieces = [sum(bare[i:i + blocks]) for i in range(0, len(bare) - blocks + 1, blocks)]
    return at(pieces, 0.99) - statistics.median(pieces)


def added_at_p99(times, bare):
    block_ns = statistics.median(times) * BLOCK
    return at(times, 0.99) - statistics.median(bare) - interruptions([ns * BLOCK for ns in bare], block_ns) / BLOCK


def evaluate(runs):
    """`runs`: {run: {way: ns for each launch, by block}} of one kind of launches. Return {way: figures}."""
    ways = {way: [ns for run in runs.values() for ns in run[way]] for way in next(iter(runs.values()))}
    figures = {}
    for way, times in ways.items():
        added = {name: statistics.median(run[way]) - statistics.median(run["bare"]) for name, run in runs.items()}
        quietest = runs[min(added, key=added.get)]
        figures[way] = {"middle_ns": statistics.median(times), "p99_ns": at(times, 0.99),
                        "added_ns": statistics.median(added.values()), "least_added_ns": min(added.values()),
                        "added_at_p99_ns": added_at_p99(quietest[way], quietest["bare"])}
    return {way: {name: round(value, 1) for name, value in each.items()} for way, each in figures.items()}


def main(path, out):
    kinds = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            run, way, what, ns = line.rstrip("\n").split("\t")
            kinds[what][run][way].append(float(ns))
    table = {what: evaluate(runs) for what, runs in kinds.items()}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(table, file, indent=2)
    print("| launches | way | middle | 99 % | added | least | added at 99 % |", "|---|---|---|---|---|---|---|", sep="\n")
    for what, ways in table.items():
        for way in ("bare", "unmetered", "metered", "scraped"):
            each = ways[way]
            added = ("", "", "") if way == "bare" else (each["added_ns"], each["least_added_ns"], each["added_at_p99_ns"])
            print(f"| {what} | {way} | {each['middle_ns']} | {each['p99_ns']} | {added[0]} | {added[1]} | {added[2]} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
