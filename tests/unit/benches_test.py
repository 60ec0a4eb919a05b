#!/usr/bin/env python3
"""A bench whose programs aren't built says what to build, before it makes a node."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
bad = []
with tempfile.TemporaryDirectory() as empty:
    for bench in ("alloc", "launch", "swap"):
        done = subprocess.run([ROOT / "bench" / bench, "--build", empty], capture_output=True, text=True, timeout=60)
        if done.returncode != 1 or "is not built. Try: cmake --preset release" not in done.stderr:
            bad.append(f"bench/{bench}: exit status {done.returncode}, {done.stderr!r}")
print("\n".join(bad))
sys.exit(bool(bad))
