#!/usr/bin/env python3
"""Compares the names of cgpu-exporter's metrics: docs/metrics.md has each of them and no other, and the alert rules and the
dashboards use no other.
usage: metrics_in_docs_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
NAME = r"cgpud?_[a-z_]+"


def names_in(path, pattern):
    return set(re.findall(pattern, (ROOT / path).read_text()))


def main():
    served = names_in("client/exporter/metrics.cpp", rf'"({NAME})"')

    def used_in(path, before):
        """The names in a file, those of a histogram's series as the histogram's."""
        names = names_in(path, rf"{before}({NAME})")
        return {re.sub("_(bucket|sum|count)$", "", name) if name not in served else name for name in names}

    described = used_in("docs/metrics.md", r"(?<![\w-])")
    bad = [f"docs/metrics.md: the metric {name} is missing" for name in sorted(served - described)]
    bad += [f"docs/metrics.md: there is no metric {name}" for name in sorted(described - served)]
    dashboards = [str(path.relative_to(ROOT)) for path in (ROOT / "etc/grafana/dashboards").glob("*.json")]
    for path in ("etc/prometheus/cgpu.rules.yml", "tests/system/exporter/rules_test.yml", *dashboards):
        bad += [f"{path}: there is no metric {name}" for name in sorted(used_in(path, r"\b") - served)]
    if bad or len(served) < 20:
        sys.exit("\n".join(bad) or f"only {len(served)} metrics were found in client/exporter/metrics.cpp")
    print(f"{len(served)} metrics")


main()
