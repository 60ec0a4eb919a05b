#!/usr/bin/env python3
"""Compares the names in the documentation with the tree: each file, folder and link that a page names exists, each verb that it
uses is one of cgpuctl's. No source or page refers to a document that isn't in the tree.
usage: names_in_docs_test.py SOURCE_FOLDER

A name is text in `code` that begins with a folder of the tree. It may have wildcards, may leave out a suffix
(`core/wire/message`), and may end with `*` as the prefix of several files' names. Text with a part in capitals
(`client/cgpuctl/NAME.cpp`) is a pattern, not a name.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + sorted((ROOT / "docs").rglob("*.md"))
FOLDERS = "core|daemon|client|module|dbus|tests|bench|cmake|docs|etc|units|debian|bundle|\\.ci"
MANUALS = sorted((ROOT / "docs").glob("*.[18]"))
SOURCES = ("core", "daemon", "client", "module", "bundle", "dbus", "tests", "bench", "etc", "units", "debian", "cmake", ".ci")
SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".S", ".py", ".sh", ".xml", ".yaml", ".txt", ".cmake", ".md", ".1", ".8"}
MADE = ("build/",)  # the results of a build
# Documents outside the tree, which a reader can't look up: say the rule itself.
FOREIGN = re.compile(r"\bSPEC\b|\bDESIGN\b|\(S[0-4]\b[^)]*\)")


def is_there(name, beside):
    """Whether it exists below the tree, or beside the page."""
    name = name.rstrip("/")
    return any(any(folder.glob(pattern)) for folder in {ROOT, beside} for pattern in (name, name + ".*", name + "*/"))


def names_in(text):
    """The names in `code`, with their lines."""
    for number, line in enumerate(text.splitlines(), 1):
        for code in re.findall(r"`([^`]+)`", line):
            for word in re.findall(rf"(?:^|(?<=[\s(]))((?:{FOLDERS})/[\w./*{{}},-]*)", code):
                if not re.search(r"(?:^|[/_.])[A-Z]{2,}(?:$|[/_.])", word) and not word.startswith(MADE):
                    yield number, word


def expanded(name):
    """`a/{b,c}.hpp` as several names."""
    found = re.fullmatch(r"(.*)\{([^}]*)\}(.*)", name)
    return [found[1] + part + found[3] for part in found[2].split(",")] if found else [name]


def links_in(text):
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", line):
            if "://" not in target:
                yield number, target


def verbs_in(text):
    """In `code`, and at the start of lines of a fenced block."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        begin = r"(?:`|^\$ |^)" if fenced else "`"
        for verb in re.findall(begin + r"(?:sudo )?cgpuctl ([a-z][a-z-]*)", line):
            yield number, verb


def verbs_in_manual(text):
    """The tags of the verbs' entries in a manual page, which .ci/manual has written from cgpuctl's own table."""
    part = text.split(".SH VERBS\n")[1].split(".SH ")[0]
    return {verb.replace("\\-", "-") for verb in re.findall(r"^\.TP\n\\fB([a-z][a-z\\-]*)(?:\\fR| )", part, re.MULTILINE)}


def foreign_in_sources():
    """References to documents that are not in the tree."""
    files = [page for page in PAGES + MANUALS]
    for folder in SOURCES:
        files += [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES and path not in files]
    for path in files:
        if not path.is_file() or path.name == pathlib.Path(__file__).name or "build" in path.relative_to(ROOT).parts:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if found := FOREIGN.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {found[0]} refers to a document that is not in the tree"


def main():
    verbs = verbs_in_manual((ROOT / "docs/cgpuctl.1").read_text())
    bad = []
    for page in PAGES:
        text = page.read_text()
        said = page.relative_to(ROOT)
        for number, name in names_in(text):
            bad += [f"{said}:{number}: `{part}` is not there" for part in expanded(name) if not is_there(part, page.parent)]
        bad += [f"{said}:{number}: the link to {target} leads nowhere" for number, target in links_in(text)
                if not is_there(target, page.parent)]
        bad += [f"{said}:{number}: cgpuctl has no verb {verb}" for number, verb in verbs_in(text) if verb not in verbs]
    for page in MANUALS:
        said = page.relative_to(ROOT)
        # The tag of an entry is one line: what follows belongs to the text.
        for tag in re.findall(r"^\.TP\n(\..*)\n\.(?:[BIR]{2}|I) .*\n\.[BIR]{1,2} ", page.read_text(), re.MULTILINE):
            bad.append(f"{said}: the tag {tag!r} goes on in a second line")
        for verb in re.findall(r"^\.B[RI]* \"?cgpuctl ([a-z][a-z\\-]*)", page.read_text(), re.MULTILINE):
            verb = verb.replace("\\", "")
            if not verb.startswith("-") and verb not in verbs:
                bad.append(f"{said}: cgpuctl has no verb {verb}")
    bad += foreign_in_sources()
    if not verbs or bad:
        sys.exit("\n".join(bad) or "no verbs found in docs/cgpuctl.1")


main()
