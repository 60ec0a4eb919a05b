#!/usr/bin/env python3
"""Holds the names in the documentation against the tree: each file, folder and link that a page names is there, and each verb
that it calls is one of cgpuctl's. usage: names_in_docs_test.py SOURCE_FOLDER

A name is what stands in `code` and begins with a folder of the tree. It may have wildcards, and may leave out a suffix
(`core/wire/message`) or be the beginning of several files' names where it ends with `*`. What has a part in capitals
(`client/cgpuctl/NAME.cpp`) is a pattern, not a name.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + sorted((ROOT / "docs").glob("*.md"))
FOLDERS = "core|daemon|client|module|dbus|tests|bench|cmake|docs|etc|units|debian|bundle|\\.ci"
MADE = ("build/",)  # what a build leaves


def is_there(name, beside):
    """Below the tree, or beside the page."""
    name = name.rstrip("/")
    return any(any(folder.glob(pattern)) for folder in {ROOT, beside} for pattern in (name, name + ".*", name + "*/"))


def names_in(text):
    """What is named in `code`, with its line."""
    for number, line in enumerate(text.splitlines(), 1):
        for code in re.findall(r"`([^`]+)`", line):
            for word in re.findall(rf"(?:^|(?<=[\s(]))((?:{FOLDERS})/[\w./*{{}},-]*)", code):
                if not re.search(r"(?:^|[/_.])[A-Z]{2,}(?:$|[/_.])", word) and not word.startswith(MADE):
                    yield number, word


def expanded(name):
    """`a/{b,c}.hpp` as its parts."""
    found = re.fullmatch(r"(.*)\{([^}]*)\}(.*)", name)
    return [found[1] + part + found[3] for part in found[2].split(",")] if found else [name]


def links_in(text):
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", line):
            if "://" not in target:
                yield number, target


def verbs_in(text):
    """In `code`, and where lines of a fenced block begin."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        begin = r"(?:`|^\$ |^)" if fenced else "`"
        for verb in re.findall(begin + r"(?:sudo )?cgpuctl ([a-z][a-z-]*)", line):
            yield number, verb


def main():
    verbs = set(re.findall(r'\{"([a-z][a-z-]*)",', (ROOT / "client/cgpuctl/verb_table.cpp").read_text()))
    bad = []
    for page in PAGES:
        text = page.read_text()
        said = page.relative_to(ROOT)
        for number, name in names_in(text):
            bad += [f"{said}:{number}: `{part}` is not there" for part in expanded(name) if not is_there(part, page.parent)]
        bad += [f"{said}:{number}: the link to {target} leads nowhere" for number, target in links_in(text)
                if not is_there(target, page.parent)]
        bad += [f"{said}:{number}: cgpuctl has no verb {verb}" for number, verb in verbs_in(text) if verb not in verbs]
    if not verbs or bad:
        sys.exit("\n".join(bad) or "no verbs found in client/cgpuctl/verb_table.cpp")


main()
