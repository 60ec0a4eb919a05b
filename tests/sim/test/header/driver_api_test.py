#!/usr/bin/env python3
"""Compares driver_api.txt with the type definitions of an installed CUDA toolkit. Status 77: there is none.

usage: driver_api_test.py DRIVER_API_TXT [INCLUDE_FOLDER]
"""
import pathlib
import re
import sys

HEADERS = ["cudaTypedefs.h", "cudaProfilerTypedefs.h", "cudaGLTypedefs.h", "cudaEGLTypedefs.h", "cudaVDPAUTypedefs.h"]


def listed(path):
    rows = [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {(base, int(version), variant) for _, base, version, variant in rows}, [row[0] for row in rows]


def defined(folder):
    found = set()
    for header in HEADERS:
        text = (folder / header).read_text()
        for base, version, variant in re.findall(r"\*PFN_(cu\w+?)_v(\d+)(?:_(pt[ds][sz]))?\)", text):
            if base != "cuWGLGetDevice":  # Windows only
                found.add((base, int(version), variant or "legacy"))
    return found


def main():
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "/usr/local/cuda/include")
    ours, symbols = listed(pathlib.Path(sys.argv[1]))
    if len(symbols) != len(set(symbols)):
        sys.exit("a symbol is listed twice")
    if not (folder / HEADERS[0]).exists():
        print("no CUDA toolkit in", folder)
        sys.exit(77)
    theirs = defined(folder)
    newest = int(re.search(r"#define CUDA_VERSION (\d+)", (folder / "cuda.h").read_text())[1])
    ours = {entry for entry in ours if entry[1] <= newest}
    for entry in sorted(theirs - ours):
        print("missing:", *entry)
    for entry in sorted(ours - theirs):
        print("not in the toolkit:", *entry)
    sys.exit(ours != theirs)


if __name__ == "__main__":
    main()
