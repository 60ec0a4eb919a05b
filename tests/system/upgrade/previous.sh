# previous.sh LAB…: jobs with the module of the first release, built from the project's history, under this daemon. Limit and share
# hold, also over the daemon's death. They change to this release's engine and back while they compute, and no call fails.
if [[ ${1-} != inside ]]; then
    tree=$(cd "$(dirname "$0")/../../.." && pwd)
    module=$("$tree/tests/previous_module" "$(sed -nE 's/^project\(cgpu VERSION ([0-9.]+).*/\1/p' "$tree/CMakeLists.txt")")
    status=$?
    ((status != 77)) || echo "SKIP: $module"
    ((status == 0)) || exit "$status"
    # With priority over other programs on the machine, as the other tests of shares.
    exec nice -n -10 "$@" --gpus V100:16130MiB -- bash "$0" inside "$module"
fi
built=$2
. "$(dirname "$0")/lib.sh"
old=${built##*/}
[[ $old != "$own" ]] || fail "the former module has this one's version $own"

# fronts_of VERSION: the fronts for jobs that are started now, as the package of that version would have them.
fronts_of() {
    ln -sfn "../module/$1/libcgpu-cuda.so.$1" /usr/lib/cgpu/front/libcuda.so.1
    ln -sfn "../module/$1/libcgpu-ml.so.$1" /usr/lib/cgpu/front/libnvidia-ml.so.1
}
bytes() {
    for name in burning full new; do echo "$name $(held "${pids[$name]}")"; done
}

# Jobs of its time.
cp -r "$built" "$modules/$old"
expect cgpuctl upgrade --cold "$old" -q
fronts_of "$old"
in_job='burn --forever --kernel-us 1000 --mib 100 & burning=$!; echo $burning >"$0.pid"; echo ready
    until [[ -e $0.go ]]; do sleep 0.05; done
    alloc --mib 2 --until-fail >"$0.alloc"; echo done >>"$0.alloc"; wait $burning'
asks=("${four_of_15[@]}")
job old --weight 1 -- bash -c "$in_job" "$scratch/old"
job full -- alloc --mib 2 --until-fail --hold
asks=(CGPU_MEM=1GiB)
job later -- bash -c 'echo ready; until [[ -e $0.go ]]; do sleep 0.05; done; exec alloc --mib 100 --hold' "$scratch/later"
for name in old full later; do wait_for 20 is_ready "$name"; done
pids[burning]=$(cat "$scratch/old.pid")
wait_for 20 more_than 0 "${pids[burning]}"
for name in burning full; do expect maps "${pids[$name]}" "$old"; done

# The package is upgraded: new jobs get its fronts, and the engine in force.
fronts_of "$own"
job new --weight 2 -- burn --forever --kernel-us 1000 --mib 50
wait_for 20 is_ready new
expect maps "${pids[new]}" "$(in_force)"

# holds WHEN: the limit is exact, and the one computes half as much as the other.
holds() {
    echo "$1: $(bytes | paste -sd ' ')"
    expect_equal "bytes at the limit, $1" "$(held "${pids[full]}")" "$limit_of_four"
    expect_shares 8 3 burning=33.3 new=66.7
}
expect cgpuctl set-policy 0 weighted
sleep 0.5 # the first seconds are not measured
holds "beside a new job"
before=$(bytes)
expect lab-restart-cgpud --kill
computes burning
computes new
sleep 0.5
holds "after cgpud was killed"

# A new process in the old job: the former fronts, the present engine.
touch "$scratch/old.go"
wait_for 30 has "$scratch/old.alloc" '^done'
expect_equal "an allocation too much" "$(fact "$scratch/old.alloc" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
# Its own context and that of the other process, each with its 100 MiB or less, count, too.
expect_between "MiB allocated below the limit" "$(fact "$scratch/old.alloc" allocated_mib)" 3900 4301

# Not to one that needs newer fronts; to this release's, and back.
expect make_bundle "$scratch" "$CGPU_LAB/engines/next.so" 8.0.0 1.0.0 8.0.0
expect cgpuctl module add -q "$scratch/8.0.0"
expect_error "process ${pids[burning]} of instance [0-9a-f]{12} has front $old, and 8.0.0 needs 8.0.0" cgpuctl upgrade --hot 8.0.0
for version in "$own" "$old" "$own"; do
    expect cgpuctl upgrade --hot "$version" -q
    expect_equal "bytes on $version" "$(bytes)" "$before"
    for name in burning full new; do expect maps "${pids[$name]}" "$version"; done
    expect_equal "what the old job runs" "$(runs_what old)" "$version"
    computes burning
    computes new
done
holds "after upgrades to $own, $old and $own"
touch "$scratch/later.go"
wait_for 10 runs_something later
expect maps "${pids[later]}" "$own"
kill -TERM "${pids[burning]}"
wait "${pids[old]}"
expect_equal "exit status of the old job, none of whose calls failed" $? 0
for name in full later new; do end_job "$name"; done
wait_for 5 none_listed
wait_for 5 nothing_held
