# tests/gpu/run, the command for a real GPU, on simulated ones, so that it works when a GPU is available. Its table must hold,
# must say that the GPUs are simulated, and must not hold if the jobs have other limits.
. "$(dirname "$0")/../lib.sh"
source=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(dirname "$(readlink -f "$(command -v alloc)")")/../..
bundle=$scratch/bundle.tar.gz

# rows DIR FILTER: how many rows of the table there match.
rows() {
    jq "[.rows[] | select($2)] | length" "$1/results.json"
}

# run_table DIR BUNDLE ARGUMENT…: the table; its exit status is in $status.
run_table() {
    local out=$1
    mkdir -p "$out"
    "$source/tests/gpu/run" "$2" --out "$out" "${@:3}" >"$out/log" 2>&1
    status=$?
}

expect "$source/tests/gpu/pack" --build "$build" "$bundle"
expect_between "bytes of the bundle" "$(stat -c %s "$bundle")" 1000000 $((60 << 20))

run_table "$scratch/all" "$bundle"
grep -v '^yes ' "$scratch/all/log"
expect_equal "exit status" "$status" 0
expect_equal "rows that do not hold" "$(rows "$scratch/all" '.held == "no"')" 0
for group in memory refused sizes views lives shares mixes charges; do
    expect_between "rows of $group that hold" "$(rows "$scratch/all" ".group == \"$group\" and .held == \"yes\"")" 1 99
done
# Rows about NVIDIA's CUDA runtime, and about its samples of processes, can't be judged here, and say so.
for group in runtime pytorch frameworks firsts slices witness; do
    expect_equal "rows of $group that are judged" "$(rows "$scratch/all" ".group == \"$group\" and .held != \"skipped\"")" 0
    expect_between "rows of $group" "$(rows "$scratch/all" ".group == \"$group\"")" 1 99
done
has "$scratch/all/results.md" '^- SIMULATED: ' || fail "the table does not say that the GPUs are simulated"
expect none_listed
[[ -e /run/cgpu/leases ]] || fail "the node's own cgpud has lost its place"

# With a cgpuctl that gives jobs a far larger limit than it is told, the judge must detect it.
expect mkdir "$scratch/cheat"
expect tar -C "$scratch/cheat" -xzf "$bundle"
expect mv "$scratch/cheat/bin/cgpuctl" "$scratch/cheat/bin/honest"
cat >"$scratch/cheat/bin/cgpuctl" <<'CHEAT'
#!/bin/bash
for ((i = 1; i < $#; ++i)); do
    [[ ${!i} == --mem ]] && set -- "${@:1:i}" 14GiB "${@:i+2}" && break
done
exec "$(dirname "$0")/honest" "$@"
CHEAT
expect chmod 755 "$scratch/cheat/bin/cgpuctl"
expect tar -C "$scratch/cheat" -czf "$scratch/cheat.tar.gz" .
run_table "$scratch/cheated" "$scratch/cheat.tar.gz" memory views
expect_equal "exit status with larger limits" "$status" 1
stops='.what | test("until one is refused|four processes|cuDeviceTotalMem")'
expect_equal "rows about a limit" "$(rows "$scratch/cheated" "$stops")" 15
expect_equal "rows about a limit that do not hold" "$(rows "$scratch/cheated" "($stops) and .held == \"no\"")" 15

# A machine that can't run it says why, in the table.
mkdir "$scratch/no-mounts" "$scratch/no-gpu"
setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$source/tests/gpu/run" "$bundle" --out "$scratch/no-mounts" >/dev/null 2>&1
expect_equal "exit status without mounts" $? 3
expect_equal "its rows" "$(rows "$scratch/no-mounts" '.seen | contains("allows no mounts")')" 1
SIMGPU_DEVICE=/nowhere "$source/tests/gpu/run" "$bundle" --out "$scratch/no-gpu" >/dev/null 2>&1
expect_equal "exit status without a GPU" $? 3
expect_equal "its rows" "$(rows "$scratch/no-gpu" '.seen | contains("nvmlInit_v2")')" 1
