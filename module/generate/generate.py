#!/usr/bin/env python3
"""Makes what a front needs from its list of hooked functions (one exported symbol a line, # starts a comment).

usage: generate.py table HOOKS FACTS OUT.cpp    find_hook of hook_table.hpp
       generate.py script HOOKS OUT.map         a linker version script: the hooks, and nothing else
"""
import pathlib
import sys

import cuda_api


def read_hooks(path):
    lines = [line.partition("#")[0].strip() for line in pathlib.Path(path).read_text().splitlines()]
    hooks = [line for line in lines if line]
    for name in hooks:
        if hooks.count(name) > 1:
            raise SystemExit(f"{path}: {name} is listed twice")
    return hooks


def version_script(hooks):
    return "{\n    global:\n" + "".join(f"        {name};\n" for name in sorted(hooks)) + "    local: *;\n};\n"


def table_rows(hooks, api):
    """(name asked for, per thread, version, hook or None), sorted. A base with one hooked function has a row for all
    its versions and variants: a caller that asks for one that is not hooked must not get its neighbour."""
    hooked, bases = set(hooks), api.by_base()
    rows = []
    for base in sorted({api.by_symbol()[name].base for name in hooks}):
        for function in bases[base]:
            symbol = function.symbol if function.symbol in hooked else None
            rows.append((base, function.variant != "plain", function.version, symbol))
    return sorted(rows, key=lambda row: row[:3])


def hook_table(hooks, api):
    declarations = "".join(f"void {name}();\n" for name in sorted(hooks))
    rows = "".join(f'    {{"{name}", {str(per_thread).lower()}, {version}, {symbol or "nullptr"}}},\n'
                   for name, per_thread, version, symbol in table_rows(hooks, api))
    symbols = "".join(f'    {{"{name}", {name}}},\n' for name in sorted(hooks))
    return f"""// Made by module/generate/generate.py.
#include "module/generate/hook_table.hpp"

// The hooks' addresses are all that is wanted here, so they go without their arguments.
extern "C" {{
{declarations}}}

namespace cgpu::module {{

constexpr VersionedHook kVersioned[] = {{
{rows}}};

constexpr NamedHook kNamed[] = {{
{symbols}}};

const HookTable& hook_table() {{
    static constexpr HookTable table{{kVersioned, kNamed, {api.newest}}};
    return table;
}}

}}  // namespace cgpu::module
"""


def main():
    verb, hooks_path, *rest = sys.argv[1:]
    hooks = read_hooks(hooks_path)
    if verb == "script":
        pathlib.Path(rest[0]).write_text(version_script(hooks))
    elif verb == "table":
        api = cuda_api.read(rest[0])
        if unknown := sorted(set(hooks) - set(api.by_symbol())):
            raise SystemExit(f"{hooks_path}: {', '.join(unknown)}: not in {rest[0]}")
        pathlib.Path(rest[1]).write_text(hook_table(hooks, api))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
