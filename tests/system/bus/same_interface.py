"""same_interface.py SOURCE LIVE: checks that an object's introspection has the interface of an XML file, down to each
argument, access and annotation. Otherwise it prints what differs and exits with status 1."""

import sys
import xml.etree.ElementTree as ElementTree

CHANGED = "org.freedesktop.DBus.Property.EmitsChangedSignal"
ASYNC = "org.freedesktop.DBus.Method.Async"  # for the generator of adaptors only


def annotations(element):
    found = {a.get("name"): a.get("value") for a in element.findall("annotation")
             if a.get("name") != ASYNC}
    if element.tag == "property":
        found.setdefault(CHANGED, "true")  # the specification's default
    return found


def members(interface):
    result = {}
    for element in interface:
        if element.tag not in ("method", "signal", "property"):
            continue
        key = (element.tag, element.get("name"))
        if element.tag == "property":
            shape = (element.get("type"), element.get("access"))
        else:
            default = "in" if element.tag == "method" else "out"
            shape = tuple((a.get("direction", default), a.get("type"), a.get("name")) for a in element.findall("arg"))
        result[key] = (shape, annotations(element))
    return result


def main(source_path, live_path):
    source = ElementTree.parse(source_path).getroot().find("interface")
    live = ElementTree.parse(live_path).getroot().find(f"interface[@name='{source.get('name')}']")
    if live is None:
        sys.exit(f"the object has no interface {source.get('name')}")
    wanted, got = members(source), members(live)
    differences = [f"{key}: {wanted.get(key)} in the XML, {got.get(key)} on the bus"
                   for key in sorted(wanted.keys() | got.keys()) if wanted.get(key) != got.get(key)]
    if differences:
        sys.exit("\n".join(differences))


main(*sys.argv[1:])
