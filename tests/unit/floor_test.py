#!/usr/bin/env python3
"""packaging/portable/check_floor.py must find faults: programs with one fault each are made here, and each is named.

usage: floor_test.py SOURCE_FOLDER COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

SOURCE, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2]
CHECK = SOURCE / "packaging/portable/check_floor.py"
GOOD = ["-O2", "-fPIE", "-pie", "-fstack-protector-all", "-Wl,-z,relro,-z,now"]
MAIN = "int main(void) { return 0; }\n"
NEW = "#include <stdlib.h>\nint main(void) { return (int)arc4random(); }\n"
ACL = "int acl_valid(void*);\nint main(void) { return acl_valid(0); }\n"
# Startup code as glibc 2.34 and newer have it, and as an older one: it names the program's constructors.
NEW_START = '.globl _start\n.text\n_start: xor %ebp,%ebp\nxor %ecx,%ecx\nmov main@GOTPCREL(%rip),%rdi\ncall *__libc_start_main@GOTPCREL(%rip)\nhlt\n.section .note.GNU-stack,"",@progbits\n'
OLD_START = NEW_START.replace("xor %ecx,%ecx", "mov main@GOTPCREL(%rip),%rcx")

CASES = [  # name, source, options, what is said of it
    ("new symbol", NEW, GOOD, "takes arc4random of GLIBC 2.36"),
    ("library", ACL, [*GOOD, "-Wl,--no-as-needed", "-lacl"], "needs libacl.so.1, which is not declared"),
    ("version of another", ACL, [*GOOD, "-lacl"], "takes acl_valid of ACL_1.0, which is not declared"),
    ("path", MAIN, [*GOOD, "-Wl,--disable-new-dtags,-rpath,/opt"], "has RPATH"),
    ("new path", MAIN, [*GOOD, "-Wl,--enable-new-dtags,-rpath,/opt"], "has RUNPATH"),
    ("fixed address", MAIN, ["-no-pie", "-fno-pie", *GOOD[3:]], "is no PIE"),
    ("no relro", MAIN, [*GOOD[:-1], "-Wl,-z,norelro,-z,now"], "has no RELRO"),
    ("lazy", MAIN, [*GOOD[:-1], "-Wl,-z,relro,-z,lazy"], "binds lazily"),
    ("stack", MAIN, [*GOOD, "-Wl,-z,execstack"], "has an executable stack"),
    ("no protector", MAIN, ["-fPIE", "-pie", "-fno-stack-protector", GOOD[-1]], "has no stack protector"),
]


def compiled(folder, source, options):
    """Compile a program into a folder of its own, with the floors' layout."""
    code = folder / "main.c"
    code.write_text(source)
    place = folder / "root/usr/bin/program"
    place.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([COMPILER, code, "-o", place, *options], check=True)
    return folder / "root"


def assembled(folder, name, text):
    code, out = folder / f"{name}.s", folder / f"{name}.o"
    code.write_text(text)
    subprocess.run([COMPILER, "-c", code, "-o", out], check=True)
    return out


def said(*arguments):
    return subprocess.run([sys.executable, "-B", CHECK, *arguments], capture_output=True, text=True, check=False)


def main():
    bad = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case, source, options, wanted in CASES:
            answer = said(compiled(folder, source, options))
            if wanted not in answer.stdout or answer.returncode != 1:
                bad.append(f"{case}: it should say `{wanted}`, and said: {answer.stdout}{answer.stderr}")
        old, new = assembled(folder, "old", OLD_START), assembled(folder, "new", NEW_START)
        root = compiled(folder, MAIN, [*GOOD, "-nostartfiles", new])
        fault = "doesn't begin with the startup code of the old glibc"
        if fault not in said(root, "--start", old).stdout:
            bad.append("startup code of another glibc is not found")
        if fault in said(root, "--start", new).stdout:
            bad.append("startup code is not known again")
        # What is allowed to other programs.
        (folder / "main.c").write_text('#include <stdlib.h>\nint main(void) { return getenv("A") != 0; }\n')
        enter = folder / "root/usr/lib/cgpu/cgpu-enter"
        enter.parent.mkdir(parents=True)
        subprocess.run([COMPILER, folder / "main.c", "-o", enter, *GOOD], check=True)
        lines = said(root).stdout.splitlines()
        if [line for line in lines if "getenv" in line] != ["/usr/lib/cgpu/cgpu-enter: it takes getenv, which is forbidden to it"]:
            bad.append(f"a set-uid program that reads variables is not found: {lines}")
        enter.unlink()
        # Within the floor, but for this machine's glibc.
        rest = [line for line in said(compiled(folder, MAIN, GOOD)).stdout.splitlines() if "GLIBC 2." not in line]
        if rest:
            bad.append(f"a good program is not good: {rest}")
        if said(folder / "none").returncode == 0:
            bad.append("an empty folder passes")
    if bad:
        sys.exit("\n".join(bad))
    print(f"{len(CASES) + 5} cases")


main()
