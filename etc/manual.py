#!/usr/bin/env python3
"""Writes the manual page cgpud.yaml(5) from the file of defaults: each key with its comment and its default.
usage: manual.py VERSION cgpud.yaml > cgpud.yaml.5

A comment describes the keys behind it, up to an empty line. Lines of a comment that are themselves YAML (`# gpus:` and what
follows) are an example. `# --- TITLE. ---` begins a section.
"""
import pathlib
import re
import sys

HEAD = r""".TH CGPUD.YAML 5 "" "cgpu {version}" "File formats"
.SH NAME
cgpud.yaml \- configuration of cgpud
.SH SYNOPSIS
.I /etc/cgpu/cgpud.yaml
.br
.I /etc/cgpu/cgpud.yaml.d/*.yaml
.SH DESCRIPTION
.BR cgpud (8)
reads the defaults in
.IR /usr/lib/cgpu/cgpud.yaml ,
then the administrator's file, then the files of the folder in the order of their names; a later value wins. All of them are YAML.
An unknown key, a value of the wrong kind and a value out of its range are errors: a cgpud that starts refuses the file, and one that
reads it again keeps the former configuration in force.
Numbers are whole and decimal, without a sign, and without a zero before them, because YAML 1.1 takes 012 for an octal number. A GPU has
one name in a file: an index without zeros before it, or a UUID.
Files are text in UTF-8 of a mebibyte at most, and have 20,000 values together. A file in the folder whose name doesn't end
with .yaml is not read; cgpud warns of it, unless the name says that it is a backup.
.BR "cgpud \-\-check"
says whether the files are right,
.B systemctl reload cgpud
puts them in force, and
.B cgpuctl config
shows each value that is in force and where it comes from.
"""
TAIL = r""".SH EXAMPLE
A node on which every container needs a limit, and its first GPU has five slices of equal size:
.PP
.nf
.RS
unmanaged: refuse
gpus:
  0:
    policy: fixed
    max_inst: 5
.RE
.fi
.SH SEE ALSO
.BR cgpuctl (1),
.BR cgpud (8)
"""
EXAMPLE = re.compile(r"(?:[\w-]+:$|  )")


def escaped(text):
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def described(comment):
    """The comment as text, and its example in the form in which it is."""
    text, example = [], []
    for line in comment:
        (example if example or EXAMPLE.match(line) else text).append(line)
    yield escaped(" ".join(text))
    if example:
        yield ".PP\n.nf\n.RS\n" + escaped("\n".join(example)) + "\n.RE\n.fi"


def page(version, lines):
    yield HEAD.format(version=version)
    comment, in_head = [], True
    for line in lines:
        if title := re.fullmatch(r"# --- (.*?)\.(?: (.*))? ---", line):
            yield f".SH {title[1].upper()}\n"
            if title[2]:
                yield escaped(title[2]) + "\n"
            comment, in_head = [], False
        elif line.startswith("#"):
            comment.append(line[2:])
        elif not line:
            comment = []
        elif not in_head:
            key, _, value = line.partition(":")
            yield f".TP\n.BR {escaped(key)} \" (default: {escaped(value.strip()) or 'none'})\"\n"
            if comment:
                yield "\n".join(described(comment)) + "\n"
            comment = []
    yield TAIL


def main():
    _, version, path = sys.argv
    sys.stdout.write("".join(page(version, pathlib.Path(path).read_text().splitlines())))


main()
