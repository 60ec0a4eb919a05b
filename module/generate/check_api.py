#!/usr/bin/env python3
"""Compares cuda_api.tsv to the headers of an installed CUDA toolkit, or makes it from them (--write).

cuda.h declares the exported symbols, cudaTypedefs.h names base, version and variant: PFN_<base>_v<version>[_ptsz].
Of one base and variant, the n-th version is the n-th symbol (none, _v2, _v3, …).

usage: check_api.py FACTS [--include FOLDER] [--compiler CC] [--write]
Exit status 77 where no toolkit is installed.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

import cuda_api

SYMBOL = re.compile(r"(cu[A-Z]\w*?)(?:_v(\d+))?(?:_(ptsz|ptds))?")
# What the headers for graphics, video and profilers declare (cudaGL.h and so on).
OTHER_HEADERS = re.compile(r"cu(GL|EGL|VDPAU|Profiler|GraphicsGL|GraphicsEGL|GraphicsVDPAU)[A-Z]\w*|\w+(EglFrame|FromEGLSync)")
TYPEDEF = re.compile(r"PFN_(cu[A-Z]\w*?)_v(\d{4,})(?:_(ptsz|ptds))?\)")


def preprocess(compiler, include, header):
    """Return all versions: __CUDA_API_VERSION_INTERNAL makes the header declare the old ones, too."""
    return subprocess.run([compiler, "-E", "-P", "-xc", "-D__CUDA_API_VERSION_INTERNAL", "-I", include, "-"],
                          input=f"#include <{header}>\n", check=True, capture_output=True, text=True).stdout


def api_of(include, compiler):
    declared = set(re.findall(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(", preprocess(compiler, include, "cuda.h")))
    symbols = collections.defaultdict(list)
    for name in declared:
        base, number, variant = SYMBOL.fullmatch(name).groups()
        symbols[base, variant or "plain"].append((int(number or 1), name))

    versions = collections.defaultdict(set)
    for base, version, variant in TYPEDEF.findall((include / "cudaTypedefs.h").read_text()):
        versions[base, variant or "plain"].add(int(version))

    functions = set()
    for (base, variant), named in symbols.items():
        introduced = sorted(versions[base, variant])
        if len(introduced) != len(named):
            sys.exit(f"{base} ({variant}): {len(named)} symbols but versions {introduced}")
        for version, (_, symbol) in zip(introduced, sorted(named)):
            functions.add(cuda_api.Function(base, variant, version, symbol))
    newest = re.search(r"#define CUDA_VERSION (\d+)", (include / "cuda.h").read_text())
    return cuda_api.Api(int(newest.group(1)), frozenset(functions))


def differences(facts, toolkit):
    for function in sorted(toolkit.functions - facts.functions):
        yield f"in the toolkit only: {function}"
    # An older toolkit lacks later functions, a newer one may have dropped deprecated ones.
    if toolkit.header == facts.header:
        for function in sorted(facts.functions - toolkit.functions - documented(facts)):
            yield f"in the facts only: {function}"


def documented(facts):
    """What cuda.h of the facts' version can't declare."""
    return {function for function in facts.functions
            if function.version > facts.header or OTHER_HEADERS.fullmatch(function.base)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("facts", type=pathlib.Path)
    parser.add_argument("--include", type=pathlib.Path, default=pathlib.Path("/usr/local/cuda/include"))
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if not (args.include / "cuda.h").exists():
        print(f"skipped: no CUDA toolkit in {args.include}")
        return 77
    toolkit = api_of(args.include, args.compiler)
    if args.write:
        known = documented(cuda_api.read(args.facts)) if args.facts.exists() else set()
        cuda_api.write(args.facts, cuda_api.Api(toolkit.header, toolkit.functions | known))
        return 0
    found = list(differences(cuda_api.read(args.facts), toolkit))
    for difference in found:
        print(difference)
    if found:
        print(f"{args.facts} is stale. Try: check_api.py {args.facts} --include {args.include} --write")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
