#!/usr/bin/env python3
"""Makes the stubs and the look-up table of a simulated library from its list of exported functions.

usage: driver_tables.py cuda|nvml LIST OUTPUT_FOLDER
       driver_tables.py cuda-of|nvml-of VERSION LIST OUTPUT_FOLDER
  cuda     writes driver_stubs.cpp (weak definitions)
  cuda-of  writes driver_table.cpp (for cuGetProcAddress) and driver.map of a driver of this CUDA version
  nvml     writes nvml_stubs.cpp (weak definitions)
  nvml-of  writes nvml.map of a driver of this major version
A stub is weak: where the library defines the function itself, the linker takes that one.
"""
import pathlib
import sys


def rows(path):
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split()


def stubs(symbols, answer):
    lines = ["// Made by generate/driver_tables.py", 'extern "C" {']
    lines += [f"__attribute__((weak)) int {symbol}();\nint {symbol}() {{ return {answer}; }}" for symbol in symbols]
    return "\n".join(lines + ["}", ""])


def exports(symbols):
    return "{\n  global: " + " ".join(f"{symbol};" for symbol in symbols) + "\n  local: *;\n};\n"


def driver_table(entries, cuda_version):
    variants = {"legacy": "legacy", "ptsz": "per_thread", "ptds": "per_thread"}
    lines = ["// Made by generate/driver_tables.py", '#include "tests/sim/driver/base/function_table.hpp"', 'extern "C" {']
    lines += [f"void {symbol}();" for symbol, _, _, _ in entries]
    lines += ["}", "namespace simgpu {", f"const unsigned kCudaVersion = {cuda_version};", "const FunctionEntry kFunctionTable[] = {"]
    lines += [f'    {{"{base}", {version}, StreamVariant::{variants[variant]}, &{symbol}}},'
              for symbol, base, version, variant in sorted(entries, key=lambda entry: (entry[1], int(entry[2]), entry[0]))]
    lines += ["};", "const std::size_t kFunctionTableSize = sizeof(kFunctionTable) / sizeof(kFunctionTable[0]);",
              "}  // namespace simgpu", ""]
    return "\n".join(lines)


def main():
    kind, *version, listing, folder = sys.argv[1:]
    listing, folder = pathlib.Path(listing), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    entries = list(rows(listing))
    symbols = [entry[0] for entry in entries]
    if kind == "cuda":
        not_supported = 801
        (folder / "driver_stubs.cpp").write_text(stubs(symbols, not_supported))
    elif kind == "cuda-of":
        present = [entry for entry in entries if int(entry[2]) <= int(version[0])]
        (folder / "driver_table.cpp").write_text(driver_table(present, version[0]))
        (folder / "driver.map").write_text(exports(entry[0] for entry in present))
    elif kind == "nvml-of":
        (folder / "nvml.map").write_text(exports(entry[0] for entry in entries if int(entry[1]) <= int(version[0])))
    else:
        not_supported = 3
        (folder / "nvml_stubs.cpp").write_text(stubs(symbols, not_supported))


if __name__ == "__main__":
    main()
