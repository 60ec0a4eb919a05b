#!/usr/bin/env python3
"""Writes the row of one Debian into the table of docs/install.md: its versions, what was tried, what failed.

usage: row.py SUITE ROOT GOOD BAD     GOOD, BAD: what held and what didn't, with commas
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


def main():
    suite, root, good, bad = sys.argv[1:]
    versions = {}
    for package, name in SHOWN:
        if version := version_of(root, package):
            versions.setdefault(name, version)
    shown = ", ".join(f"{name} {version}" for name, version in versions.items())
    held, not_held = (", ".join(names.split(",")) for names in (good or "nothing", bad or "–"))
    row = f"| {NAMES[suite]} | {shown} | {held} | {not_held} |\n"
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    head, rows = table.splitlines(keepends=True)[:2], table.splitlines(keepends=True)[2:]
    rows = [line for line in rows if not line.startswith(f"| {NAMES[suite]} |")] + [row]
    rows.sort(key=lambda line: [line.startswith(f"| {name} |") for name in NAMES.values()].index(True))
    PAGE.write_text(before + BEGIN + "".join(head + rows) + END + after)


main()
