#!/usr/bin/env python3
"""Makes what a front needs from its list of hooked functions (one exported symbol a line, # starts a comment).

usage: generate.py table HOOKS FACTS OUT.cpp    hook_table() of hook_table.hpp
       generate.py script HOOKS OUT.map         a linker version script: the hooks, and nothing else
       generate.py names PRIVATE FACTS OUT.cpp  known_functions() of core/elf/newer_functions.hpp
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
    """(base, symbol, has a hook), sorted, of every function whose base has one that is hooked: a caller that asks for
    another form of it gets that form, and not a hook with other arguments."""
    bases = api.by_base()
    hooked_bases = {api.by_symbol()[name].base for name in hooks}
    return sorted((base, function.symbol, function.symbol in hooks) for base in hooked_bases for function in bases[base])


def hook_table(hooks, api):
    table = table_rows(hooks, api)
    declarations = "".join(f"void {name}();\n" for name in sorted(hooks))
    rows = "".join(f'    {{"{base}", "{symbol}", {symbol if has_hook else "nullptr"}}},\n' for base, symbol, has_hook in table)
    return f"""// Made by module/generate/generate.py.
#include "module/generate/hook_table.hpp"

// The hooks' addresses are all that is wanted here, so they go without their arguments.
extern "C" {{
{declarations}}}

namespace cgpu::module {{

constexpr HookRow kRows[] = {{
{rows}}};
static_assert(std::size(kRows) <= kMostHookRows);

std::span<const HookRow> hook_table() {{ return kRows; }}

}}  // namespace cgpu::module
"""


def known_functions(private, api):
    names = "".join(f'    "{name}",\n' for name in sorted({*private, *api.by_symbol()}))
    return f"""// Made by module/generate/generate.py.
#include "core/elf/newer_functions.hpp"

namespace cgpu::elf {{

std::span<const std::string_view> known_functions() {{
    static constexpr std::string_view kNames[] = {{
{names}}};
    return kNames;
}}

}}  // namespace cgpu::elf
"""


def main():
    verb, hooks_path, *rest = sys.argv[1:]
    hooks = read_hooks(hooks_path)
    if verb == "script":
        pathlib.Path(rest[0]).write_text(version_script(hooks))
    elif verb == "names":
        pathlib.Path(rest[1]).write_text(known_functions(hooks, cuda_api.read(rest[0])))
    elif verb == "table":
        api = cuda_api.read(rest[0])
        if unknown := sorted(set(hooks) - set(api.by_symbol())):
            raise SystemExit(f"{hooks_path}: {', '.join(unknown)}: not in {rest[0]}")
        pathlib.Path(rest[1]).write_text(hook_table(hooks, api))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
