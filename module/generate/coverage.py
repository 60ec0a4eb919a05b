#!/usr/bin/env python3
"""Checks that every function of the driver's API has a class in coverage.tsv, and that docs/isolation.md has the counts.

usage: coverage.py SOURCE_FOLDER [--write]    --write writes the counts into docs/isolation.md
"""
import collections
import pathlib
import re
import sys

import cuda_api
import generate

BEGIN, END = "<!-- written by module/generate/coverage.py -->\n", "<!-- end of what coverage.py writes -->\n"
CLASSES = {"memory": "takes or gives back device memory", "launches": "makes the GPU work", "waits": "waits for the GPU",
           "contexts": "makes or ends contexts", "reads": "gives information", "harmless": "takes neither memory nor GPU time",
           "refused": "is refused, or for some arguments"}
NEED_A_HOOK = ("memory", "launches", "waits", "contexts")


def version_text(version):
    return f"{version // 1000}.{version % 1000 // 10}"


class Coverage:
    def __init__(self, root):
        self.api = cuda_api.read(root / "module/generate/cuda_api.tsv")
        self.hooks = set(generate.read_hooks(root / "module/front/hooks/hooks.txt"))
        self.bases = self.api.by_base()
        self.rows = {}
        for line in (root / "module/generate/coverage.tsv").read_text().splitlines():
            if line and not line.startswith("#"):
                base, kind, *note = line.split("\t")
                self.rows[base] = (kind, note[0] if note else "")
        self.private = set(generate.read_hooks(root / "module/generate/private_exports.txt"))
        self.page = root / "docs/isolation.md"

    def has_hook(self, base):
        return any(function.symbol in self.hooks for function in self.bases[base])

    def faults(self):
        for base in sorted(set(self.bases) - set(self.rows)):
            yield f"{base}: it has no class. Try: add it to module/generate/coverage.tsv"
        for base in sorted(set(self.rows) - set(self.bases)):
            yield f"{base}: module/generate/cuda_api.tsv has no such function"
        for name in sorted(self.private & set(self.api.by_symbol())):
            yield f"{name}: it is in the API, so it can't be in module/generate/private_exports.txt"
        for base, (kind, note) in sorted(self.rows.items()):
            if base not in self.bases:
                continue
            hooked = self.has_hook(base)
            if kind not in CLASSES:
                yield f"{base}: class {kind} is none of {', '.join(CLASSES)}"
            elif hooked and kind == "harmless":
                yield f"{base}: it has a hook, so it isn't harmless"
            elif kind == "refused" and not hooked:
                yield f"{base}: nothing refuses it, for it has no hook"
            elif kind in NEED_A_HOOK and not hooked and not note:
                yield f"{base}: class {kind} needs a hook, or a reason for having none"
            elif note and (hooked or kind not in NEED_A_HOOK):
                yield f"{base}: only functions without a hook that could need one have a reason"

    def table(self):
        lines = [f"The public API of CUDA {version_text(self.api.newest)} has {len(self.bases)} functions,"
                 f" in {len(self.api.functions)} forms.", "",
                 "| class | a function of it … | functions | with a hook | need none | open |", "|---|---|---|---|---|---|"]
        opened = collections.defaultdict(list)
        for kind, text in CLASSES.items():
            bases = [base for base, row in self.rows.items() if row[0] == kind]
            hooked = sum(map(self.has_hook, bases))
            missing = [base for base in bases if self.rows[base][1].startswith("open: ")]
            for base in missing:
                opened[self.rows[base][1].removeprefix("open: ")].append(base)
            lines.append(f"| {kind} | {text} | {len(bases)} | {hooked} | {len(bases) - hooked - len(missing)} | {len(missing)} |")
        lines += ["", "Open are:"]
        lines += [f"- {', '.join(f'`{base}`' for base in sorted(bases))}: {why}" for why, bases in sorted(opened.items())]
        return "\n".join(lines + self.new_forms()) + "\n"

    def new_forms(self):
        """What came after the version whose header the facts were compared with."""
        groups = collections.defaultdict(list)
        for function in sorted(self.api.functions):
            if function.version > self.api.header and function.variant == "plain":
                kind = self.rows[function.base][0]
                how = "refused where memory is isolated" if kind == "refused" else \
                    "hook" if function.symbol in self.hooks else "passed"
                groups[function.version, kind, how].append(f"`{function.symbol}`")
        return ["", f"After CUDA {version_text(self.api.header)} came, by NVIDIA's documentation and not tried on a driver:", "",
                "| CUDA | class | functions | a call is |", "|---|---|---|---|",
                *(f"| {version_text(version)} | {kind} | {', '.join(names)} | {'handled by a hook' if how == 'hook' else how} |"
                  for (version, kind, how), names in sorted(groups.items()))]

    def page_with_table(self):
        text = self.page.read_text()
        if not re.search(f"{BEGIN}.*{END}", text, re.DOTALL):
            raise SystemExit(f"{self.page} has no place for the counts: {BEGIN.strip()} … {END.strip()}")
        return re.sub(f"{BEGIN}.*{END}", lambda _: BEGIN + self.table() + END, text, flags=re.DOTALL)


def main():
    coverage = Coverage(pathlib.Path(sys.argv[1]))
    faults = list(coverage.faults())
    if not faults and sys.argv[2:] == ["--write"]:
        coverage.page.write_text(coverage.page_with_table())
    elif not faults and coverage.page_with_table() != coverage.page.read_text():
        faults.append("docs/isolation.md has other counts. Try: module/generate/coverage.py . --write")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
