"""The facts file cuda_api.tsv: every function that libcuda.so.1 exports according to NVIDIA's headers and documentation, one
a line: exported symbol, base name (the one that is passed to cuGetProcAddress), CUDA version that introduced it (as
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
    header: int  # the CUDA version of the cuda.h that the facts were compared with
    functions: frozenset

    @property
    def newest(self):
        """The newest version with a function; those after `header` come from NVIDIA's documentation."""
        return max(self.header, *(function.version for function in self.functions))

    def by_symbol(self):
        return {function.symbol: function for function in self.functions}

    def by_base(self):
        bases = collections.defaultdict(list)
        for function in sorted(self.functions):
            bases[function.base].append(function)
        return bases


def read(path):
    header, functions = 0, set()
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if line.startswith("# CUDA_VERSION "):
            header = int(line.split()[2])
        if not line or line.startswith("#"):
            continue
        symbol, base, version, variant = line.split("\t")
        if variant not in VARIANTS:
            raise SystemExit(f"{path}:{number}: variant {variant} is none of {', '.join(VARIANTS)}")
        functions.add(Function(base, variant, int(version), symbol))
    if header == 0:
        raise SystemExit(f"{path}: no line `# CUDA_VERSION …`")
    return Api(header, frozenset(functions))


def write(path, api):
    lines = ["# Exported symbol, base name, introducing CUDA version, variant. Made and checked by check_api.py: what cuda.h of this",
             "# version declares. Functions of other headers and of newer versions come from NVIDIA's documentation.",
             f"# CUDA_VERSION {api.header}"]
    lines += [f"{f.symbol}\t{f.base}\t{f.version}\t{f.variant}" for f in sorted(api.functions)]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
