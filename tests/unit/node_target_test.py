#!/usr/bin/env python3
"""Checks that everything that `cmake --install` installs is built by the target cgpu_node: quickstart builds only that target.

usage: node_target_test.py REPOSITORY
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
files = [path for path in root.rglob("CMakeLists.txt") if "build" not in path.relative_to(root).parts]
texts = {path: path.read_text() for path in files}
node = next(re.search(r"add_dependencies\(cgpu_node ([^)]*)\)", text) for text in texts.values() if "add_dependencies(cgpu_node" in text)
built = set(node[1].split())
installed = set()
for text in texts.values():
    for targets in re.findall(r"install\(TARGETS ([^)]*?) DESTINATION", text):
        installed |= set(targets.split())
    # Files that a target of its own makes, such as a manual page.
    for file in re.findall(r"install\(FILES \$\{(\w+)\} DESTINATION", text):
        installed |= set(re.findall(rf"add_custom_target\((\w+) ALL DEPENDS \$\{{{file}\}}\)", text))
    # Files that are run during the installation.
    for code in re.findall(r"install\(CODE (.*?)\)\"\)", text, re.S):
        installed |= set(re.findall(r"TARGET_FILE:([\w-]+)", code))
missing = sorted(installed - built)
if missing or not installed:
    sys.exit(f"cgpu_node doesn't build what is installed: {', '.join(missing)}. Try: add it in tests/system/CMakeLists.txt")
print(f"{len(installed)} targets are installed, all built by cgpu_node")
