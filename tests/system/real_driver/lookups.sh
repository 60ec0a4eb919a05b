# NVIDIA's own libraries behind the fronts, each driver that `fetch` got: whatever a program looks up, by dlsym, dlvsym and both
# forms of cuGetProcAddress, is found or not found as without a front, and each hook stands for the very function that the
# driver answers. There is no GPU for them, so cuInit and nvmlInit fail; all is looked up before that and after it. NVML's private
# table is the driver's, with lists of processes that are the front's.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/install.sh"
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../.." && pwd)
kinds=$(dirname "$(readlink -f "$(command -v alloc)")")/kinds
mapfile -t drivers < <(find "$source/build/real_driver" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' 2>/dev/null | sort -V)
((${#drivers[@]})) || skip "there are no libraries of NVIDIA's here. Try: tests/system/real_driver/fetch"
compared=0 differing=0

# functions_of LIBRARY: what any of these drivers' libraries exports.
functions_of() {
    local driver
    for driver in "${drivers[@]}"; do
        nm -D --defined-only "$driver/$1.so.${driver##*/}" | sed -nE 's/.* [TW] //p'
    done | sort -u
}

count() { # WHAT COMPARED DIFFERING
    echo "$1: $2 compared, $3 differ"
    compared=$((compared + $2))
    differing=$((differing + $3))
}

# compare_exports VERSION LIBRARY INIT CODE: as a process without a front finds them, and a job.
compare_exports() {
    local differ lines
    "$kinds/exports" "$2.so.1" "$scratch/$2" "$3" >"$scratch/bare" || fail "$2 of $1 without a front"
    job exports --mem 1GiB -- "$kinds/exports" "$2.so.1" "$scratch/$2" "$3"
    wait "${pids[exports]}" || fail "$2 of $1"
    expect_equal "$3 of $1 without a GPU" "$(fact "$scratch/exports.out" init)" "$4"
    lines=$(wc -l <"$scratch/bare")
    differ=$(diff "$scratch/bare" "$scratch/exports.out" | tee "$scratch/differ" | grep -c '^>')
    head -n 20 "$scratch/differ"
    count "$1, exports of $2" "$lines" "$differ"
}

# compare_lookups VERSION
compare_lookups() {
    job lookups --mem 1GiB -- "$kinds/lookups" "$source/module/generate/cuda_api.tsv" "$source/module/front/hooks/hooks.txt" \
        "$scratch/libcuda"
    wait "${pids[lookups]}"
    grep '^wrong:' "$scratch/lookups.out"
    expect_equal "cuInit of $1 without a GPU" "$(fact "$scratch/lookups.out" init)" 100
    count "$1, look-ups" "$(fact "$scratch/lookups.out" lookups)" "$(fact "$scratch/lookups.out" wrong)"
}

compare_table() { # VERSION
    local own=4 # three lists, and the handle by an index
    [[ $1 == 470.* ]] && own=0 # the front doesn't know its layout
    expect python3 -B "$here/table.py" >"$scratch/bare"
    job table --mem 1GiB -- python3 -B "$here/table.py"
    wait "${pids[table]}" || fail "the table of $1"
    expect_equal "functions of the table that are the front's under $1" "$(fact "$scratch/table.out" replaced)" $own
    expect_equal "functions that are another library's without a front" "$(fact "$scratch/bare" replaced)" 0
    sed -i '/^replaced /d' "$scratch/bare" "$scratch/table.out"
    count "$1, private table of libnvidia-ml" "$(wc -l <"$scratch/bare")" \
        "$(diff "$scratch/bare" "$scratch/table.out" | tee "$scratch/differ" | grep -c '^[<>]')"
    cat "$scratch/differ"
}

for library in libcuda libnvidia-ml; do functions_of $library >"$scratch/$library"; done
for driver in "${drivers[@]}"; do
    version=${driver##*/}
    install_driver "$driver"
    compare_exports "$version" libcuda cuInit 100
    compare_exports "$version" libnvidia-ml nvmlInit_v2 9
    compare_lookups "$version"
    compare_table "$version"
    wait_for 10 none_listed
done
expect_equal "functions that cgpu doesn't know" "$(cgpuctl status --json | jq -c .newer_driver_functions)" '[]'
echo "$compared compared, $differing differ"
expect_equal "what differs" "$differing" 0
