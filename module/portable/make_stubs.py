#!/usr/bin/env python3
"""Makes stub libraries to link against from a list of an old glibc's symbols.

A symbol that the old glibc lacks is then a link error, and every symbol is recorded with the file that
provided it in the old glibc (before 2.34 the loader refuses a symbol whose version it seeks in another file).

usage: make_stubs.py SYMBOLS OUT_FOLDER COMPILER
"""
import collections
import pathlib
import subprocess
import sys


def read_symbols(path):
    """{library: [(name, version, kind, size)]}"""
    libraries = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            library, name, version, kind, size = line.split()
            libraries[library].append((name, version, kind, int(size)))
    return libraries


def assembly(symbols):
    lines = []
    for number, (name, version, kind, size) in enumerate(symbols):
        stub = f"stub_{number}"
        section, body, kind_word = (".data", f".zero {max(size, 1)}", "object") if kind == "OBJECT" else (
            ".text", ".byte 0", "function")
        lines += [section, f".globl {stub}", f".type {stub},@{kind_word}", f"{stub}: {body}",
                  f".size {stub}, .-{stub}", f".symver {stub},{name}@@{version},remove"]
    lines.append('.section .note.GNU-stack,"",@progbits')
    return "\n".join(lines) + "\n"


def version_script(symbols):
    """Return empty nodes, one per version: .symver puts the symbols into them."""
    versions = {version for _, version, _, _ in symbols}
    ordered = sorted(versions, key=lambda v: [int(part) for part in v.removeprefix("GLIBC_").split(".")])
    return "".join(f"{version} {{}};\n" for version in ordered)


def main():
    source, out, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    out.mkdir(parents=True, exist_ok=True)
    for library, symbols in read_symbols(source).items():
        code, script = out / f"{library}.s", out / f"{library}.map"
        code.write_text(assembly(symbols))
        script.write_text(version_script(symbols))
        subprocess.run([compiler, "-shared", "-nostdlib", "-o", out / library, code,
                        f"-Wl,-soname,{library}", f"-Wl,--version-script={script}"], check=True)


if __name__ == "__main__":
    main()
