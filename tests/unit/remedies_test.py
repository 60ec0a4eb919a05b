#!/usr/bin/env python3
"""Checks the remedies in messages: `what: why. Try: REMEDY.` must name a command, a value or something to do, so REMEDY doesn't
begin with a pronoun or a question word. usage: remedies_test.py SOURCE_FOLDER

Amounts of memory are written as cgpu reads them: 4GiB, 512MiB, without a blank.

It reads the string literals of the sources. A remedy is the text behind `Try: `, or the last argument of a function that builds
a refusal from its parts (core/model/refusal.hpp), as far as that argument is, or begins with, a literal.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
FOLDERS = ("client", "core", "daemon", "bundle")
BAD = {"it", "what", "when", "whether", "one", "another", "again", "as", "its", "the", "a", "an", "fewer", "only", "with"}
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
BUILDERS = r"\b(?:refuse|make_refusal|refuse_value|object|problem|also_try|refused)\("


def joined(literals):
    """Adjacent literals, as the compiler joins them."""
    return "".join(literal[1:-1] for literal in re.findall(LITERAL, literals))


def without_comments(text):
    return re.sub(rf"({LITERAL})|//[^\n]*", lambda found: found[1] or "", text)


def arguments_from(text, at):
    """The arguments of a call, whose opening bracket is at `at`."""
    depth, begin, found, quoted = 0, at + 1, [], False
    while at < len(text):
        character = text[at]
        if quoted:
            at += character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return found + [text[begin:at].strip()]
        elif character == "," and depth == 1:
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return found


def amounts_with_a_blank(text):
    """In one literal (`{} MiB`, `2 MiB`), or behind a number that is put before the literal (` GiB of …`)."""
    for found in re.finditer(rf"{LITERAL}(?:\s*{LITERAL})*", text):
        if re.search(r"(?:[0-9}]|^) [KMGT]iB\b", joined(found[0])):
            yield found.start(), joined(found[0])


def remedies_in(text):
    for found in re.finditer(rf"{LITERAL}(?:\s*{LITERAL})*", text):
        for remedy in joined(found[0]).split("Try: ")[1:]:
            yield found.start(), remedy
    for found in re.finditer(BUILDERS, text):
        arguments = arguments_from(text, found.end() - 1)
        if len(arguments) > 1 and (begin := re.match(rf"{LITERAL}(?:\s*{LITERAL})*", arguments[-1])):
            yield found.start(), joined(begin[0])


def main():
    bad, count = [], 0
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.[ch]pp")):
        text = without_comments(path.read_text(encoding="utf-8"))
        for at, literal in amounts_with_a_blank(text):
            bad.append(f"{path.relative_to(ROOT)}:{text[:at].count(chr(10)) + 1}: write the amount without a blank: {literal}")
        for at, remedy in remedies_in(text):
            count += 1
            if re.split(r"[\s,.:;]", remedy)[0] in BAD:
                bad.append(f"{path.relative_to(ROOT)}:{text[:at].count(chr(10)) + 1}: begin the remedy with a verb or a command: {remedy}")
    if bad or count < 100:
        sys.exit("\n".join(bad) or f"only {count} remedies were found")
    print(f"{count} remedies")


main()
