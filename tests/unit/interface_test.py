#!/usr/bin/env python3
"""Checks that programs written for the last release still work: everything that its interfaces have on the bus is there, with the
same arguments, types and access. What is added is no difference.
usage: interface_test.py SOURCE_FOLDER

The interfaces of the last release are dbus/released/*.xml, without comments; CONTRIBUTING.md says when they are replaced.
"""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

CHANGED = "org.freedesktop.DBus.Property.EmitsChangedSignal"


def members(path):
    """By kind and name: what a caller relies on."""
    result = {}
    for element in ElementTree.parse(path).getroot().find("interface"):
        shape = None
        if element.tag == "property":
            annotations = {each.get("name"): each.get("value") for each in element.findall("annotation")}
            shape = (element.get("type"), element.get("access"), annotations.get(CHANGED, "true"))
        elif element.tag in ("method", "signal"):
            default = "in" if element.tag == "method" else "out"
            shape = [(each.get("direction", default), each.get("type")) for each in element.findall("arg")]
        if shape is not None:
            result[element.tag, element.get("name")] = shape
    return result


def differences(folder):
    released = sorted((folder / "released").glob("*.xml"))
    if not released:
        yield "dbus/released: it has no interface of the last release"
    for path in released:
        now = members(folder / path.name)
        for member, shape in members(path).items():
            if now.get(member) != shape:
                yield f"{path.name}: {' '.join(member)} was {shape}, and is {now.get(member, 'not there any more')}"


found = list(differences(pathlib.Path(sys.argv[1]) / "dbus"))
print("\n".join(found))
sys.exit(1 if found else 0)
