#!/usr/bin/env python3
"""Writes the manual page org.cgpu1(5): the bus API, from the XML files and their comments.
usage: manual.py VERSION EXAMPLES_FOLDER XML... > org.cgpu1.5

A comment describes the element behind it. Of several comments before an element the last one does; the others, and the comments
before <node>, describe the interface. An element without a comment belongs to the one before it.
"""
import pathlib
import re
import sys
import xml.dom.minidom

CHANGED = "org.freedesktop.DBus.Property.EmitsChangedSignal"
SIGNALLED = {"true": "", "const": ", constant", "false": ", not signalled", "invalidates": ", signalled without its value"}
KINDS = (("method", "Methods"), ("signal", "Signals"), ("property", "Properties"))

HEAD = r""".TH ORG.CGPU1 5 "" "cgpu {version}" "File formats"
.SH NAME
org.cgpu1 \- the D-Bus API of cgpud
.SH DESCRIPTION
.BR cgpud (8)
serves this API on the system bus, under the name
.BR org.cgpu1 ,
and is started by the bus if it isn't running. Types are D-Bus signatures. A property that is signalled emits
.B PropertiesChanged
when it changes.
"""
FILES = r""".SH FILES
.TP
.I /usr/share/dbus\-1/interfaces/org.cgpu1.*.xml
the interfaces, from which this page and the bindings of programs can be generated
.SH SEE ALSO
.BR cgpuctl (1),
.BR cgpud (8),
.BR busctl (1)
"""


def escaped(text):
    """Plain text, without anything that roff would obey."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def prose(comment):
    """The paragraphs of a comment."""
    paragraphs = re.split(r"\n\s*\n", comment.strip())
    return [escaped(re.sub(r"\s+", " ", paragraph.strip())).replace("`", "") for paragraph in paragraphs]


def paragraphs_of(comments):
    return "".join(f".PP\n{paragraph}\n" for comment in comments for paragraph in prose(comment))


def arguments(element, direction):
    default = "in" if element.tagName == "method" else "out"
    return ", ".join(f"{each.getAttribute('name')} {each.getAttribute('type')}" for each in element.getElementsByTagName("arg")
                     if (each.getAttribute("direction") or default) == direction)


def heading(element):
    name = element.getAttribute("name")
    if element.tagName == "property":
        annotations = {each.getAttribute("name"): each.getAttribute("value")
                       for each in element.getElementsByTagName("annotation")}
        return f"{name} {element.getAttribute('type')}", SIGNALLED[annotations.get(CHANGED, "true")]
    if element.tagName == "signal":
        return f"{name}({arguments(element, 'out')})", ""
    returned = arguments(element, "out")
    return f"{name}({arguments(element, 'in')})", f" returns {returned}" if returned else ""


def entry(element, comments):
    signature, rest = heading(element)
    paragraphs = prose(comments[-1]) if comments else []
    body = "".join(f"{paragraph}\n.IP\n" for paragraph in paragraphs).removesuffix(".IP\n")
    return f".TP\n\\fB{escaped(signature)}\\fR{escaped(rest)}\n{body}"


def section(document):
    node = document.documentElement
    general = [child.data for child in document.childNodes if child.nodeType == child.COMMENT_NODE]
    interface = node.getElementsByTagName("interface")[0]
    entries = {kind: [] for kind, _ in KINDS}
    comments = []
    for child in interface.childNodes:
        if child.nodeType == child.COMMENT_NODE:
            comments.append(child.data)
        elif child.nodeType == child.ELEMENT_NODE and child.tagName in entries:
            general += comments[:-1]
            entries[child.tagName].append(entry(child, comments))
            comments = []
    text = f".SH {interface.getAttribute('name')}\n" + paragraphs_of(general)
    for kind, title in KINDS:
        if entries[kind]:
            text += f".SS {title}\n" + "".join(entries[kind])
    return text


def examples(folder):
    text = ".SH EXAMPLES\n"
    for path in sorted(folder.iterdir()):
        text += f".SS {escaped(path.name)}\n.nf\n{escaped(path.read_text())}.fi\n"
    return text


def main(version, folder, *files):
    sys.stdout.write(HEAD.format(version=version))
    for file in files:
        sys.stdout.write(section(xml.dom.minidom.parse(file)))
    sys.stdout.write(examples(pathlib.Path(folder)) + FILES)


main(*sys.argv[1:])
