# previous.sh LAB…: jobs with modules of former commits, built from the project's history, under this daemon: one that can't
# exchange its engine (version 1 of the link), and the newest one that can. Limit and share hold, also over the daemon's
# death. The first is refused a hot upgrade by name, and a cold one is possible after it; the other changes, and goes back.
if [[ ${1-} != inside ]]; then
    tree=$(cd "$(dirname "$0")/../../.." && pwd)
    declare -A commits=([1]=b8af1974bba71975c0474bc24a524352b323e1f1 [2]=2b5617abcc432486474c332e622ca1eb068b1787)
    for link in 1 2; do
        module=$("$tree/tests/previous_module" "${commits[$link]}")
        status=$?
        ((status != 77)) || echo "SKIP: $module"
        ((status == 0)) || exit "$status"
        # With priority over other programs on the machine, as the other tests of shares.
        nice -n -10 "$@" --gpus V100:16130MiB -- bash "$0" inside $link "$module" || exit
    done
    exit 0
fi
link=$2 built=$3
. "$(dirname "$0")/lib.sh"
old=${built##*/}
[[ $old != "$own" ]] || fail "the former module has this one's version $own"
install_engine next

# fronts_of VERSION: the fronts for jobs that are started now, as the package of that version would have them.
fronts_of() {
    ln -sfn "../module/$1/libcgpu-cuda.so.$1" /usr/lib/cgpu/front/libcuda.so.1
    ln -sfn "../module/$1/libcgpu-ml.so.$1" /usr/lib/cgpu/front/libnvidia-ml.so.1
}
bytes() {
    for name in burning full new; do echo "$name $(held "${pids[$name]}")"; done
}

# Jobs of its time: that daemon named its engine to them.
cp -r "$built" "$modules/$old"
((link > 1)) || expect cgpu-make-manifest "$modules/$old"
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

# The package is upgraded. Before there were bundles, the state didn't have the version in force: then it is cgpud's own.
if ((link == 1)); then
    . "$CGPU_LAB/cgpud.sh"
    stop_cgpud TERM
    rm "$modules/$old/manifest.json"
    jq 'del(.upgrade) | .version = 1' /var/lib/cgpu/state.json >"$scratch/state" && cp "$scratch/state" /var/lib/cgpu/state.json
    expect start_cgpud
    expect_equal "in force" "$(in_force)" "$own"
fi
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

if ((link == 1)); then
    for way in "" --dry-run; do
        expect_error "process ${pids[burning]} of instance [0-9a-f]{12} has front $old, which can't exchange its engine" \
            cgpuctl upgrade --hot "$next" $way
        expect_error "process ${pids[full]} of instance .*Try: wait until they have ended, or use --cold while there is no instance" \
            cgpuctl upgrade --hot "$next" $way
    done
    expect_equal "in force" "$(in_force)" "$own"
    expect_equal "bytes after the refusal" "$(bytes)" "$before"
    computes burning
    kill -TERM "${pids[burning]}"
    wait "${pids[old]}"
    end_job full

    # A process that starts while the others change rolls them back.
    freeze new
    expect cgpuctl upgrade --hot "$next" --no-wait -q
    wait_for 10 goes_over
    touch "$scratch/later.go"
    wait_for 10 at_state back
    thaw new
    wait_for 20 at_state ended
    expect_equal "result" "$(upgrade_now result)" failed
    expect_equal "why" "$(upgrade_now message)" "It went back, because process ${pids[later]} of instance $(
        cgpuctl list --json | jq -r '.[] | select(.name == "later").id[:12]'
    ) has front $old, which can't exchange its engine for $next; $own is in force."
    wait_for 10 is_ready later
    expect maps "${pids[later]}" "$own"
    expect_error 'instances are in the way' cgpuctl upgrade --cold "$next"
    expect cgpuctl upgrade --cold "$next" --drain --no-wait -q
    for name in later new; do end_job "$name"; done
    wait_for 10 at_state ended
    expect_equal "result" "$(upgrade_now result)" done
    idle after
    expect maps "${pids[after]}" "$next"
    end_job after
else
    # Not to one that needs newer fronts; to this release's, and back.
    expect make_bundle "$scratch" "$CGPU_LAB/engines/next.so" "$next" "$old" "$own"
    rm -r "${modules:?}/$next"
    expect cgpuctl module add -q "$scratch/$next"
    expect_error "process ${pids[burning]} of instance [0-9a-f]{12} has front $old, and $next needs $own" \
        cgpuctl upgrade --hot "$next"
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
    for name in full later new; do end_job "$name"; done
fi
wait_for 5 none_listed
wait_for 5 nothing_held
