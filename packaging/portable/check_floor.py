#!/usr/bin/env python3
"""Checks that the shipped programs and libraries need no more of a host than the portable package promises: glibc 2.31 and
libsystemd 247 (the module: glibc 2.17), no undeclared library, no path of the machine that built them, and that they are
hardened. The set-uid program must take nothing that reads the environment or the name service. Programs must begin with the startup code of the old glibc: a newer one leaves the constructors of a program to the
C library, and an older C library than 2.34 doesn't run them.

usage: check_floor.py FOLDER [--start SCRT1.O]     FOLDER: what is installed, with its usr/…
                                                   SCRT1.O: the old glibc's, of the sysroot
"""
import argparse
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}
PROGRAM = {"GLIBC": (2, 31), "LIBSYSTEMD": (247,)}
# What a file may need, by its path: versions of symbols, and libraries. The first that fits counts.
FLOORS = [
    ("*/usr/lib/cgpu/module/*", {"GLIBC": (2, 17)}, LIBRARIES),
    ("*", PROGRAM, LIBRARIES | {"libsystemd.so.0"}),
]
# cgpu-enter is set-uid: it loads nothing that the name service is configured to, and reads no variable.
FORBIDDEN = [("*/cgpu/cgpu-enter", r"(secure_|__secure_)?getenv|(get(pw|gr|host|serv|addrinfo)|initgroups|dlopen).*")]


def readelf(option, file):
    """Run the tool in the C locale, because its words are matched below."""
    return subprocess.run(["readelf", "-W", option, file], check=True, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def version_of(text):
    return tuple(int(part) for part in text.split("."))


def symbol_faults(path, allowed):
    """Every symbol that is taken from elsewhere has a version, none newer than those of the floor."""
    undeclared = set()
    for line in readelf("--dyn-syms", path).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or fields[6] != "UND":
            continue
        name, _, version = fields[7].partition("@")
        kind, _, number = version.lstrip("@").rpartition("_")
        if not version:
            if fields[4] != "WEAK" and name:
                yield f"takes {name} from anybody (no version)"
        elif kind not in allowed or not re.fullmatch(r"[\d.]+", number):
            if kind not in undeclared:  # one is enough: a library has hundreds
                yield f"takes {name} of {version.lstrip('@')}, which is not declared"
            undeclared.add(kind)
        elif version_of(number) > allowed[kind]:
            most = ".".join(str(part) for part in allowed[kind])
            yield f"takes {name} of {kind} {number}, which is newer than {most}"


def forbidden_faults(path, shown):
    for pattern, names in FORBIDDEN:
        if fnmatch.fnmatchcase(shown, pattern):
            for name in re.findall(r" UND ([^\s@]+)", readelf("--dyn-syms", path)):
                if re.fullmatch(names, name):
                    yield f"takes {name}, which is forbidden to it"


def library_faults(dynamic, allowed):
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in allowed:
            yield f"needs {name}, which is not declared"
    # RELR: relocations that a glibc before 2.36 doesn't know.
    for word in ("RPATH", "RUNPATH", "TEXTREL", "RELR"):
        if f"({word})" in dynamic:
            yield f"has {word}"


def hardening_faults(path, dynamic, segments, is_program):
    if is_program and not re.search(r"Elf file type is DYN", segments):
        yield "is no PIE"
    if "GNU_RELRO" not in segments:
        yield "has no RELRO"
    if not re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic):
        yield "binds lazily (no BIND_NOW)"
    if re.search(r"GNU_STACK.*\bRWE\b", segments):
        yield "has an executable stack"
    # A program that is linked statically and stripped has no symbols, and the message in it.
    if "__stack_chk_fail" not in readelf("--dyn-syms", path) and b"stack smashing detected" not in path.read_bytes():
        yield "has no stack protector"


def start_code(start):
    """The bytes of the startup file's code; None for those that the linker fills in."""
    text = re.search(r"\.text\s+PROGBITS\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", readelf("-S", start))
    offset, size = int(text[1], 16), int(text[2], 16)
    code = list(start.read_bytes()[offset:offset + size])
    relocations = readelf("-r", start).split("'.rela.text'")[1].split("Relocation section")[0]
    for place in re.findall(r"^([0-9a-f]{8,}) ", relocations, re.MULTILINE):
        at = int(place, 16)
        code[at:at + 4] = [None] * 4
        # The linker may turn a call by a table into a direct one, and a load from there into an address.
        code[at - 2:at] = {0xFF: [None] * 2, 0x8B: [None, code[at - 1]]}.get(code[at - 2], code[at - 2:at])
    return code


def entry_code(path, segments, length):
    entry = int(re.search(r"Entry point (0x[0-9a-f]+)", segments)[1], 16)
    for offset, address, size in re.findall(r"LOAD\s+(0x[0-9a-f]+) (0x[0-9a-f]+) 0x[0-9a-f]+ (0x[0-9a-f]+)", segments):
        start = int(address, 16)
        if start <= entry < start + int(size, 16):
            at = int(offset, 16) + entry - start
            return list(path.read_bytes()[at:at + length])
    return []


def start_faults(path, segments, start):
    wanted = start_code(start)
    found = entry_code(path, segments, len(wanted))
    if len(found) != len(wanted) or any(want is not None and want != got for want, got in zip(wanted, found)):
        yield "doesn't begin with the startup code of the old glibc"


def faults(path, shown, start):
    """Return what is wrong with the file; `shown` is its path on a host."""
    versions, libraries = next((versions, libraries) for pattern, versions, libraries in FLOORS
                               if fnmatch.fnmatchcase(shown, pattern))
    dynamic, segments = readelf("-d", path), readelf("-l", path)
    needs_loader = "INTERP" in segments
    # A shared library has neither a loader nor the mark of a program.
    is_program = needs_loader or "Flags: PIE" in dynamic or "Elf file type is EXEC" in segments
    yield from symbol_faults(path, versions)
    yield from forbidden_faults(path, shown)
    yield from library_faults(dynamic, libraries)
    yield from hardening_faults(path, dynamic, segments, is_program)
    if needs_loader and start is not None:
        yield from start_faults(path, segments, start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--start", type=pathlib.Path)
    args = parser.parse_args()
    files = sorted(path for path in args.folder.rglob("*") if path.is_file() and not path.is_symlink() and is_elf(path))
    found = 0
    for path in files:
        shown = f"/{path.relative_to(args.folder)}"
        for fault in faults(path, shown, args.start):
            print(f"{shown}: it {fault}")
            found += 1
    if not files:
        sys.exit(f"{args.folder} has no program. Try: name a folder of installed files")
    if found:
        sys.exit(1)
    print(f"check: {len(files)} programs and libraries need glibc 2.31 and libsystemd 247 at most")


if __name__ == "__main__":
    main()
