#!/usr/bin/env python3
"""Whoever reads an error of cgpud finds it in docs/operation.md: each error name of the bus, and a part of each line that the
daemon logs as a warning or an error.
usage: errors_in_docs_test.py SOURCE_FOLDER

Of a line of the log, the words between its `{}` count. Where a line has no words of its own, because it is a message that
another place made, that place's own words are in the page or the message is an error of the bus.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])


def names():
    return re.findall(r'return "(\w+)";', (ROOT / "daemon/bus/message/errors.cpp").read_text()) + ["Internal"]


def lines():
    """(file, format) of each call of the log at these levels."""
    for path in sorted((ROOT / "daemon").rglob("*.cpp")):
        for call in re.finditer(r'log::(?:warn|error|critical)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', path.read_text()):
            yield path.relative_to(ROOT), "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call[1]))


def main():
    page = (ROOT / "docs/operation.md").read_text()
    parts = [part.strip() for row in re.findall(r"^\| (.*?) \| ", page, re.M) for part in re.findall(r"`([^`]+)`", row)]
    bad = [f"the error {name} of the bus is missing" for name in names() if f"`{name}`" not in page]
    found = 0
    for path, text in lines():
        if not re.search(r"[a-z]{3}", re.sub(r"(instance |process )?\{[^}]*\}", "", text)):
            continue
        found += 1
        if not any(part in text for part in parts):
            bad.append(f"{path}: nothing of its line is in the page: {text}")
    if bad or found < 20 or len(names()) < 11:
        sys.exit("docs/operation.md: " + "\n".join(bad or [f"only {found} lines were found in daemon/"]))
    print(f"{len(names())} errors of the bus, {found} lines of the log")


main()
