# Jobs whose clock isn't the host's: in a time namespace (`unshare --time`), or by a library in LD_PRELOAD that does what
# libfaketime does. Their neighbour gets what it gets beside an equal job, and so do they.
. "$(dirname "$0")/../lib.sh"
fake=$(dirname "$(readlink -f "$(command -v alloc)")")/fake_clock.so
expect test -e "$fake"
shifted=(unshare --user --map-root-user --time --monotonic)
"${shifted[@]}" 1 true || skip "this kernel has no time namespaces"

# parts SECONDS: the honest job's part of the GPU's time, and that of all others, in per cent, by the ledger.
parts() {
    simgpu ledger --json >"$scratch/ledger.before"
    sleep "$1"
    simgpu ledger --json >"$scratch/ledger.after"
    jq -rn --slurpfile before "$scratch/ledger.before" --slurpfile after "$scratch/ledger.after" --argjson pid "${pids[honest]}" '
        def served(which): [$after[0], $before[0] | [.processes[] | select(which) | .gpus[].gpu_ns] | add // 0] | .[0] - .[1];
        ($after[0].now_ns - $before[0].now_ns) as $time |
        [served(.pid == $pid), served(.pid != $pid)] | map(. * 1000 / $time | round / 10) | join(" ")'
}
gone() { ! cgpuctl list --json | jq -e --arg name "$1" 'any(.[]; .name == $name)' >/dev/null; }

# beside WHAT COMMAND…: a job of that command in front of $program. The machine may have other work to do for some seconds, so
# the best of five looks counts; what such a job took it took in all of them. Beside an equal one the figures are noted.
program=(burn --forever)
beside() {
    local what=$1 own others fair
    shift
    job other --mem 1GiB -- timeout -k 2 60 "$@" "${program[@]}"
    wait_for 20 is_ready other
    for _ in 1 2 3 4 5; do
        read -r own others <<<"$(parts 1.5)"
        echo "$policy, beside $what: the honest job has $own % of the GPU's time, the other one $others %"
        [[ $what != equal ]] || equal=$own
        fair=$(jq -n "$own > 0.75 * $equal and ([$own - $others, $others - $own] | max) <= 0.1 * ($own + $others) + 0.5")
        [[ $fair != true ]] || break
    done
    expect_equal "whether the honest job has its part beside $what" "$fair" true
    kill -TERM "${pids[other]}"
    wait "${pids[other]}"
    wait_for 10 gone other
}
behind=-$(($(cut -d . -f 1 /proc/uptime) / 2))

job honest --mem 1GiB -- burn --forever
wait_for 20 is_ready honest
policy=weighted
expect cgpuctl set-policy 0 $policy -q
beside equal env
for kind in slow still ahead; do
    beside "a clock that is $kind" env "LD_PRELOAD=$fake" FAKE_CLOCK=$kind
done
beside "a clock of its own namespace, entered twice" "${shifted[@]}" $behind unshare --time --monotonic 3000
program=(burn --forever --kernel-us 20000)
beside equal env
beside "a clock that is set back" "${shifted[@]}" $behind
beside "a clock that is set ahead" "${shifted[@]}" 100000
policy=fixed
expect cgpuctl set-policy 0 $policy -q
program=(burn --forever)
beside equal env
beside "a clock that is fast" env "LD_PRELOAD=$fake" FAKE_CLOCK=fast
beside "a fast one in a namespace" "${shifted[@]}" 3000 env "LD_PRELOAD=$fake" FAKE_CLOCK=fast
end_job honest
