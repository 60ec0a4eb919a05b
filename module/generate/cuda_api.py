"""The facts file cuda_api.tsv: every function that libcuda.so.1 exports according to NVIDIA's cuda.h, one a line:
exported symbol, base name (the one that is passed to cuGetProcAddress), CUDA version that introduced it (as
1000 * major + 10 * minor), and its variant: plain, or ptsz/ptds (default stream per thread)."""
import collections
import dataclasses
import pathlib

VARIANTS = ("plain", "ptsz", "ptds")


@dataclasses.dataclass(frozen=True, order=True)
class Function:
    base: str
    variant: str
    version: int
    symbol: str


@dataclasses.dataclass(frozen=True)
class Api:
    newest: int  # the CUDA version of the header that the facts were taken from
    functions: frozenset

    def by_symbol(self):
        return {function.symbol: function for function in self.functions}

    def by_base(self):
        bases = collections.defaultdict(list)
        for function in sorted(self.functions):
            bases[function.base].append(function)
        return bases


def read(path):
    newest, functions = 0, set()
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if line.startswith("# CUDA_VERSION "):
            newest = int(line.split()[2])
        if not line or line.startswith("#"):
            continue
        symbol, base, version, variant = line.split("\t")
        if variant not in VARIANTS:
            raise SystemExit(f"{path}:{number}: variant {variant} is none of {', '.join(VARIANTS)}")
        functions.add(Function(base, variant, int(version), symbol))
    if newest == 0:
        raise SystemExit(f"{path}: no line `# CUDA_VERSION …`")
    return Api(newest, frozenset(functions))


def write(path, api):
    lines = ["# Exported symbol, base name, introducing CUDA version, variant. Made and checked by check_api.py.",
             f"# CUDA_VERSION {api.newest}"]
    lines += [f"{f.symbol}\t{f.base}\t{f.version}\t{f.variant}" for f in sorted(api.functions)]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
