# NVIDIA's CUDA runtime, linked statically and shared: its own look-ups come back with the front's hooks in them.
. "$(dirname "$0")/lib.sh"
hooks=$(cd "$(dirname "$0")/../../.." && pwd)/module/front/hooks/hooks.txt

nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc) || skip "there is no nvcc here to make a program of the CUDA runtime with"
cat >"$scratch/runtime.cu" <<'PROGRAM'
#include <cuda_runtime.h>
#include <stdio.h>
int main() {
    void* memory = nullptr;
    const cudaError_t result = cudaMalloc(&memory, 256 << 20);
    printf("cudaMalloc %d\n", static_cast<int>(result));
}
PROGRAM
for kind in static shared; do
    expect "$nvcc" -cudart $kind -o "$scratch/runtime-$kind" "$scratch/runtime.cu" -Xlinker -rpath,"${nvcc%/bin/nvcc}/lib64"
    # It may go no further: it has the driver prove who it is, which a simulated one can't.
    job "runtime-$kind" --mem 1GiB -- env LD_PRELOAD="$kinds/preloaded_lookups.so" LOOKUPS="$scratch/$kind" "$scratch/runtime-$kind"
    wait "${pids[runtime-$kind]}"
    cat "$scratch/runtime-$kind.out"
    awk -v kind=$kind 'NR == FNR { if ($1 ~ /^cu/) hook[$1]; next }
        { own = $5 ~ "/fd/[0-9]+$"; looked_up++; if (!own) substituted++ }
        # What is looked up by dlsym (version 0) is the front'"'"'s in any case, and leads to the driver from there.
        ($4 in hook) == own && (own || $2 > 0) { print "wrong: " $0; wrong++ }
        END { print "CUDA runtime, " kind ": " looked_up " look-ups found, " substituted " substituted, " wrong + 0 " wrong"
              exit wrong > 0 || substituted < 50 || looked_up < 300 }' "$hooks" "$scratch/$kind" ||
        fail "look-ups of the $kind CUDA runtime"
done
