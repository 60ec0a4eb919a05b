#!/usr/bin/env python3
"""Writes the row of one Debian into the table of docs/install.md: its versions, what was tried, what failed.

usage: row.py SUITE ROOT GOOD BAD ALL     GOOD, BAD: what held and what didn't, with commas; ALL: every attempt, in order

What was not tried this time is kept in the row, unless the system has other versions now.
"""
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/install.md"
BEGIN, END = "<!-- written by packaging/portable/try -->\n", "<!-- end of what packaging/portable/try writes -->\n"
NAMES = {"bullseye": "Debian 11", "bookworm": "Debian 12", "trixie": "Debian 13", "forky": "Debian testing (forky)"}
SHOWN = [("libc6", "glibc"), ("systemd", "systemd"), ("polkitd", "polkit"), ("policykit-1", "polkit"), ("docker.io", "Docker"),
         ("podman", "Podman")]


def version_of(root, package):
    """Return the upstream version of an installed package, or nothing."""
    answer = subprocess.run(["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${db:Status-Status} ${Version}", package],
                            capture_output=True, text=True, check=False).stdout
    status, _, version = answer.partition(" ")
    if status != "installed":
        return ""
    return version.rpartition(":")[2].partition("-")[0].partition("+")[0].partition("~")[0]


def cells(row):
    """Return the versions, what held and what didn't, of a row."""
    _, versions, held, not_held = (cell.strip() for cell in row.strip().strip("|").split("|"))
    return (dict(each.rsplit(" ", 1) for each in versions.split(", ")),
            set() if held == "nothing" else set(held.split(", ")), set() if not_held == "–" else set(not_held.split(", ")))


def main():
    suite, root = sys.argv[1:3]
    good, bad, order = (names.split(",") if names else [] for names in sys.argv[3:])
    versions = {}
    for package, name in SHOWN:
        if version := version_of(root, package):
            versions.setdefault(name, version)
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    head, rows = table.splitlines(keepends=True)[:2], table.splitlines(keepends=True)[2:]
    for row in rows:
        if row.startswith(f"| {NAMES[suite]} |"):
            former, held, not_held = cells(row)
            if all(versions.get(name) == version for name, version in former.items()):
                good += held - {*good, *bad}
                bad += not_held - {*good, *bad}
    shown = ", ".join(f"{name} {version}" for name, version in versions.items())
    held, not_held = (", ".join(each for each in order if each in names) for names in (good, bad))
    row = f"| {NAMES[suite]} | {shown} | {held or 'nothing'} | {not_held or '–'} |\n"
    rows = [line for line in rows if not line.startswith(f"| {NAMES[suite]} |")] + [row]
    rows.sort(key=lambda line: [line.startswith(f"| {name} |") for name in NAMES.values()].index(True))
    PAGE.write_text(before + BEGIN + "".join(head + rows) + END + after)


main()
