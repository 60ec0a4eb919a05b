# NVIDIA's own libraries behind the fronts, each driver that `fetch` got: programs get the same answers in a job as without a
# front. There is no GPU for them, so cuInit and nvmlInit fail. Each function is called before that and after it, and programs
# fork, close the library and open it again, open it in namespaces, call it in threads, are bound at once, audited, preloaded
# with one that calls it, and use CUDA runtimes: those that `fetch` got (static ones only by `fetch --static`), and the machine's
# own, static and shared.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/install.sh"
source=$(cd "$(dirname "$0")/../../.." && pwd)
kinds=$(dirname "$(readlink -f "$(command -v alloc)")")/kinds
programs=$source/tests/programs/kinds/without_gpu
mapfile -t drivers < <(find "$source/build/real_driver" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' 2>/dev/null | sort -V)
((${#drivers[@]})) || skip "there are no libraries of NVIDIA's here. Try: tests/system/real_driver/fetch"
mapfile -t fetched_runtimes < <(find "$source/build/real_driver/runtimes" -type f 2>/dev/null | sort -V)
((${#fetched_runtimes[@]})) || echo "not compared: CUDA runtimes of Debian's. Try: tests/system/real_driver/fetch"
compared=0 differing=0 namespaces='' all_namespaces=()

# functions_of DRIVER LIBRARY: what it exports. The debugger's own (cudbg…) are no functions for programs, and wait for one.
functions_of() {
    nm -D --defined-only "$1/$2.so.${1##*/}" | sed -nE 's/.* [TW] //p' | grep -v '^cudbg' | sort -u
}

# compare WHAT LEAST COMMAND…: what it prints without a front, at least that many lines, and in a job, and its exit status.
compare() {
    local what=$1 least=$2 lines differ new
    shift 2
    "$@" >"$scratch/bare" 2>"$scratch/bare.err" </dev/null
    echo "exit status $?" >>"$scratch/bare"
    job job --mem 1GiB -- "$@"
    wait "${pids[job]}"
    echo "exit status $?" >>"$scratch/job.out"
    # These differ, as docs/isolation.md says.
    namespaces="$(fact "$scratch/job.out" namespaces) of $(fact "$scratch/bare" namespaces)"
    loaded=$(fact "$scratch/job.out" loaded)
    sed -i -E "/^(namespaces|loaded) /d" "$scratch/bare" "$scratch/job.out"
    lines=$(wc -l <"$scratch/bare")
    diff "$scratch/bare" "$scratch/job.out" >"$scratch/differ"
    head -n 20 "$scratch/differ"
    # Lines that are missing, or more lines that are new.
    differ=$(grep -c '^<' "$scratch/differ")
    new=$(grep -c '^>' "$scratch/differ")
    ((differ > new)) || differ=$new
    echo "$what: $lines compared, $differ differ"
    ((lines > least)) || fail "$what without a front: $(tail -n 3 "$scratch/bare.err" "$scratch/bare")"
    compared=$((compared + lines))
    differing=$((differing + differ))
}

compare_functions() { # DRIVER
    functions_of "$1" libcuda >"$scratch/names"
    compare "${1##*/}, functions of libcuda" 2000 "$kinds/answers" libcuda.so.1 "$scratch/names" cuInit
    functions_of "$1" libnvidia-ml >"$scratch/names"
    compare "${1##*/}, functions of libnvidia-ml" 1000 "$kinds/answers" libnvidia-ml.so.1 "$scratch/names" nvmlInit_v2
}

compare_situations() { # VERSION
    local situation
    for situation in fork reopen namespaces threads; do
        compare "$1, $situation" 4 "$kinds/situations" $situation "$source/module/generate/cuda_api.tsv"
        case $situation in
            # So it is known that the fronts are there.
            reopen) expect_equal "what stays loaded in a job under $1" "$loaded" '1 1' ;;
            namespaces) all_namespaces+=("$namespaces;") ;;
        esac
    done
    compare "$1, linked" 4 "$kinds/linked_codes"
    compare "$1, LD_BIND_NOW" 4 env LD_BIND_NOW=1 "$kinds/linked_codes"
    compare "$1, LD_AUDIT" 5 env LD_AUDIT="$kinds/audit.so" "$kinds/linked_codes"
    compare "$1, LD_PRELOAD" 5 env LD_PRELOAD="$kinds/preloaded_init.so" "$kinds/linked_codes"
}

make_runtimes() { # a program of the machine's CUDA runtime, of each kind, and of each static one that was fetched
    local kind archive
    nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc) || {
        echo "not compared: the machine's own CUDA runtime: there is no nvcc here to make a program of it with"
        return
    }
    for kind in static shared; do
        expect "$nvcc" -cudart $kind -o "$scratch/runtime-$kind" "$programs/runtime_codes.cpp" \
            -Xlinker -rpath,"${nvcc%/bin/nvcc}/lib64"
        runtimes+=("$kind")
    done
    for archive in "$source/build/real_driver/static_runtimes"/*.a; do
        [[ -e $archive ]] || continue
        kind=${archive##*/}
        kind=static-${kind%.a}
        expect "$nvcc" -cudart none -o "$scratch/runtime-$kind" "$programs/runtime_codes.cpp" "$archive" \
            -ldl -lrt -lpthread
        runtimes+=("$kind")
    done
}

runtimes=()
make_runtimes
for driver in "${drivers[@]}"; do
    version=${driver##*/}
    install_driver "$driver"
    compare_functions "$driver"
    compare_situations "$version"
    for kind in "${runtimes[@]}"; do compare "$version, CUDA runtime $kind" 6 "$scratch/runtime-$kind"; done
    for runtime in "${fetched_runtimes[@]}"; do
        compare "$version, ${runtime##*/}" 7 "$kinds/opened_runtime" "$runtime"
    done
    wait_for 10 none_listed
done
echo "namespaces with the driver in a job, of those without a front: ${all_namespaces[*]}"
echo "$compared compared, $differing differ"
expect_equal "what differs" "$differing" 0
