#!/usr/bin/env python3
"""Whoever reads an error of cgpu finds it in docs/operation.md: each error name of the bus, each type of event, each exit code, a
part of each line that the daemon logs as a warning or an error, and a part of each finding of cgpuctl doctor.
usage: errors_in_docs_test.py SOURCE_FOLDER

Of a line of the log, the words between its `{}` count. Where a line or a finding has no words of its own, because it is a
message that another place made, that place's own words are in the page or the message is an error of the bus.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def names():
    return re.findall(r'return "(\w+)";', (ROOT / "daemon/bus/message/errors.cpp").read_text()) + ["Internal"]


def events():
    return re.findall(r'\{EventType::\w+, "([a-z-]+)",', (ROOT / "daemon/app/events/event_type.hpp").read_text())


def exit_codes():
    """Those of cgpuctl, as its own page lists them."""
    return re.findall(r"^\| (\d+) \|", (ROOT / "docs/cgpuctl.md").read_text(), re.M)


def lines():
    """(file, format) of each call of the log at these levels."""
    for path in sorted((ROOT / "daemon").rglob("*.cpp")):
        for call in re.finditer(r'log::(?:warn|error|critical)\(\s*(?:[^";]*,\s*)?((?:"(?:[^"\\]|\\.)*"\s*)+)', path.read_text()):
            yield path.relative_to(ROOT), "".join(STRING.findall(call[1]))


def argument(text, start):
    """The expression that begins there, up to a comma or bracket that isn't in brackets of its own."""
    depth = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[(){},]', text[start:]):
        if token[0] in "({":
            depth += 1
        elif token[0] in ")}" or token[0] == ",":
            if depth == 0:
                return text[start:start + token.start()]
            depth -= token[0] != ","
    return ""


def findings():
    """(file, the longest text of its own) of each finding that isn't ok."""
    for path in sorted((ROOT / "client/cgpuctl/doctor").rglob("*.cpp")):
        text = path.read_text()
        for begin in re.finditer(r"\{\s*(?:Level::(?:warning|problem)|level),\s*[\w\"]+,\s*|= warning\(|push_back\(\s*warning\(", text):
            words = [word for word in STRING.findall(argument(text, begin.end())) if re.search(r"[a-z]{2,} ?[a-z]{2,}", word)]
            if words:
                yield path.relative_to(ROOT), max(words, key=len)


def main():
    page = (ROOT / "docs/operation.md").read_text()
    parts = [part.strip() for row in re.findall(r"^\| (.*?) \| ", page, re.M) for part in re.findall(r"`([^`]+)`", row)]
    bad = [f"the error {name} of the bus is missing" for name in names() if f"`{name}`" not in page]
    bad += [f"the event {name} is missing" for name in events() if name not in parts]
    bad += [f"the exit code {code} is missing" for code in exit_codes() if not re.search(rf"\b{code}\b", page)]
    found = 0
    for path, text in lines():
        if not re.search(r"[a-z]{3}", re.sub(r"(instance |process )?\{[^}]*\}", "", text)):
            continue
        found += 1
        if not any(part in text for part in parts):
            bad.append(f"{path}: nothing of its line is in the page: {text}")
    judged = list(findings())
    bad += [f"{path}: the finding is not in the page: {text.strip()}" for path, text in judged
            if not any(part in text for part in parts if len(part) > 5)]
    enough = found >= 20 and len(names()) >= 11 and len(events()) >= 19 and len(exit_codes()) >= 4 and len(judged) >= 30
    if bad or not enough:
        sys.exit("docs/operation.md: " + "\n".join(bad or ["too little was found in the sources"]))
    print(f"{len(names())} errors of the bus, {len(events())} events, {found} lines of the log, {len(judged)} findings of doctor")


main()
