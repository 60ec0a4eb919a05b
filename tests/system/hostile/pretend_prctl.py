#!/usr/bin/env python3
# pretend_prctl.py COMMAND…: executes it behind a filter of system calls that answers PR_GET_DUMPABLE and
# PR_SET_DUMPABLE instead of the kernel, with 0: as if the process were not dumpable any more.
import ctypes, os, struct, sys

PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 3, 4, 22, 38
SYS_PRCTL = 157
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, SUCCESS = 0x7FFF0000, 0x00050000
code = [
    (LOAD, 0, 0, 0),  # the number of the call
    (EQUAL, 0, 4, SYS_PRCTL),
    (LOAD, 0, 0, 16),  # the first argument
    (EQUAL, 1, 0, PR_GET_DUMPABLE),
    (EQUAL, 0, 1, PR_SET_DUMPABLE),
    (RETURN, 0, 0, SUCCESS),
    (RETURN, 0, 0, ALLOW),
]
instructions = b"".join(struct.pack("HBBI", *each) for each in code)
held = ctypes.create_string_buffer(instructions)
program = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(held))
libc = ctypes.CDLL(None, use_errno=True)
for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, 2, program, 0, 0)):
    if libc.prctl(*call) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[1], sys.argv[1:])
