"""Prints the elements of an XML text that have no others in them, each as PATH TEXT; those that repeat with a number."""
import collections
import sys
import xml.etree.ElementTree as ElementTree


def show(element, path):
    names = collections.Counter(child.tag for child in element)
    seen = collections.Counter()
    for child in element:
        repeats = names[child.tag] > 1 or child.tag in ("gpu", "process_info")
        number = f"[{seen[child.tag]}]" if repeats else ""
        seen[child.tag] += 1
        show(child, f"{path}/{child.tag}{number}")
    if not len(element):
        print(path, (element.text or "").strip())


root = ElementTree.parse(sys.stdin).getroot()
show(root, root.tag)
