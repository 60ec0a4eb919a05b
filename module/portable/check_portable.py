#!/usr/bin/env python3
"""Checks that a shared library loads wherever glibc is 2.17 or newer, and exports only what it should.

usage: check_portable.py LIBRARY --symbols LIST --version-script MAP
"""
import argparse
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

SYSTEM_LIBRARIES = {"libc.so.6", "libdl.so.2", "libpthread.so.0", "libm.so.6", "ld-linux-x86-64.so.2"}


def readelf(option, library):
    """Run the tool in the C locale, because its words are matched below."""
    return subprocess.run(["readelf", "-W", option, library], check=True, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def old_symbols(path):
    """Return {(library, name, version)} of the old glibc."""
    lines = [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {tuple(fields[:3]) for fields in lines}


def exports_of(script):
    """Return the patterns of the script's global part."""
    text = re.sub(r"/\*.*?\*/", "", script.read_text(), flags=re.S)
    body = re.search(r"global:(.*?)local:\s*\*\s*;", text, re.S)
    if body is None:
        sys.exit(f"{script}: no `global: … local: *;` in it")
    return [name.strip() for name in body.group(1).split(";") if name.strip()]


def dynamic_symbols(library):
    """Return rows of .dynsym as (binding, section, name, version, index of the version)."""
    for line in readelf("--dyn-syms", library).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        binding, section = fields[4], fields[6]
        name, _, version = fields[7].partition("@")
        index = fields[8].strip("()") if len(fields) > 8 else ""
        yield binding, section, name, version.lstrip("@"), index


def version_files(library):
    """Return {index of a version: the file in which it is looked up}"""
    files, current = {}, ""
    for line in readelf("-V", library).splitlines():
        if found := re.search(r"File: (\S+)", line):
            current = found.group(1)
        elif found := re.search(r"Name: (\S+)\s+Flags:.*Version: (\d+)", line):
            files[found.group(2)] = current
    return files


def faults(args):
    dynamic = readelf("-d", args.library)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    for name in needed:
        if name not in SYSTEM_LIBRARIES:
            yield f"needs {name}"
    for word in ("TEXTREL", "RELR", "RPATH", "RUNPATH"):
        if f"({word}" in dynamic or f" {word}" in dynamic:
            yield f"has {word}"

    known, files, exports = old_symbols(args.symbols), version_files(args.library), exports_of(args.version_script)
    exported = set()
    for binding, section, name, version, index in dynamic_symbols(args.library):
        if binding == "UNIQUE":
            yield f"{name} is GNU_UNIQUE"
        if section == "UND":
            if version and (files.get(index), name, version) not in known:
                yield f"takes {name}@{version} from {files.get(index)}, which glibc 2.17 doesn't have there"
            if not version and name and binding != "WEAK":
                yield f"takes {name} from anybody (no version)"
        elif not any(fnmatch.fnmatchcase(name, pattern) for pattern in exports):
            yield f"leaks {name}"
        else:
            exported.add(name)
    for pattern in exports:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in exported):
            yield f"exports no {pattern}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--symbols", type=pathlib.Path, required=True)
    parser.add_argument("--version-script", type=pathlib.Path, required=True)
    args = parser.parse_args()
    found = list(faults(args))
    for fault in found:
        print(f"{args.library}: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
