"""The table of what was seen, as a page for people and as JSON. Both are rewritten after each row, so that a run that is
cut off leaves the rows that it had."""
import json
import os
from dataclasses import asdict, dataclass, field

HELD_TEXT = {"yes": "yes", "no": "**NO**", "skipped": "skipped", "figure": "–"}


@dataclass
class Row:
    group: str
    what: str
    expected: str
    seen: str
    held: str  # yes, no, skipped (seen says why), or figure: nothing was expected, what was seen is the point


@dataclass
class Table:
    folder: str
    head: dict  # what it was run on: plain text by name
    rows: list = field(default_factory=list)

    def add(self, row):
        self.rows.append(row)
        print(f"{HELD_TEXT[row.held]:8} {row.group}: {row.what}: {row.seen}", flush=True)
        self.write()

    def count(self, held):
        return sum(row.held == held for row in self.rows)

    def summary(self):
        return (f"{self.count('yes')} held, {self.count('no')} did not, {self.count('skipped')} skipped, "
                f"{self.count('figure')} figures")

    def write(self):
        self._replace("results.json", json.dumps({"head": self.head, "rows": [asdict(row) for row in self.rows]},
                                                 indent=1, ensure_ascii=False))
        self._replace("results.md", self._page())

    def _page(self):
        lines = [f"- {name}: {text}" for name, text in self.head.items()] + [f"- {self.summary()}"]
        group = None
        for row in self.rows:
            if row.group != group:
                group = row.group
                lines += ["", f"## {group}", "| what | expected | seen | held |", "|---|---|---|---|"]
            cells = (row.what, row.expected, row.seen, HELD_TEXT[row.held])
            lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
        return "\n".join(lines) + "\n"

    def _replace(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)
