#!/usr/bin/env python3
"""Checks that polkit's policy file parses, has everything that polkit requires of an action, and registers exactly the actions
that the daemon names: polkit refuses everybody an action that is not registered.

usage: policy_file_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

OWNER = "org.freedesktop.policykit.owner"
IMPLY = "org.freedesktop.policykit.imply"
# A user who is authorized for the first is also authorized for the second.
IMPLIED = {"org.cgpu1.manage-instance": ["org.cgpu1.run org.cgpu1.manage-own"]}
# Nobody else has less by it.
FREE = ["org.cgpu1.manage-own"]
DEFAULTS = ("allow_any", "allow_inactive", "allow_active")


def problems(root):
    policy = ElementTree.parse(root / "dbus/org.cgpu1.policy").getroot()
    if policy.tag != "policyconfig":
        yield f"the root is {policy.tag}, not policyconfig"
    actions = [action.get("id") for action in policy.findall("action")]
    source = (root / "dbus/names.hpp").read_text(encoding="utf-8")
    named = re.findall(r'"(org\.cgpu1\.[a-z-]+)"', source)
    if not named or sorted(actions) != sorted(named):
        yield f"registered are {sorted(actions)}, and dbus/names.hpp names {sorted(named)}"
    unit = (root / "units/cgpud.service.in").read_text(encoding="utf-8")
    user = re.search(r"^User=(.+)$", unit, re.MULTILINE).group(1)
    for action in policy.findall("action"):
        name = action.get("id")
        for part in ("description", "message"):
            if not (action.findtext(part) or "").strip():
                yield f"{name} has no {part}"
        for part in DEFAULTS:
            wanted = "yes" if name in FREE else "auth_admin"
            if action.findtext(f"defaults/{part}") != wanted:
                yield f"{name}: {part} is {action.findtext(f'defaults/{part}')}, not {wanted}"
        # polkit answers only root and the owner of an action about other users.
        owners = [note.text for note in action.findall("annotate") if note.get("key") == OWNER]
        if owners != [f"unix-user:{user}"]:
            yield f"{name}: its owner is {owners}, and cgpud runs as {user}"
        implied = [note.text for note in action.findall("annotate") if note.get("key") == IMPLY]
        if implied != IMPLIED.get(name, []):
            yield f"{name}: it implies {implied}, not {IMPLIED.get(name, [])}"


def main():
    found = list(problems(pathlib.Path(sys.argv[1])))
    if found:
        sys.exit("\n".join(found))


main()
