# A job that is stopped in the middle of its work (as by `docker pause`), or killed, keeps the GPU from the others for its
# turn and its work in flight, no longer; when it resumes, it gets its share, and no more to make up for the time.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

# part NAME SECONDS: its part of the whole time by the ledger, in per cent.
part() {
    simgpu ledger --json >"$scratch/ledger.before"
    sleep "$2"
    simgpu ledger --json >"$scratch/ledger.after"
    jq -n --slurpfile before "$scratch/ledger.before" --slurpfile after "$scratch/ledger.after" --argjson pid "${pids[$1]}" '
        def served($ledger): [$ledger.processes[] | select(.pid == $pid and .alive) | .gpus[] | select(.gpu == 0).gpu_ns] | add // 0;
        100 * (served($after[0]) - served($before[0])) / ($after[0].now_ns - $before[0].now_ns)'
}

# stop NAME: stops the job, but not while it holds the lock of the simulator's memory, for which all others would wait then: a
# real driver's locks are in the kernel, where no process is stopped.
stop() {
    local tries
    for ((tries = 0; tries < 50; tries++)); do
        kill -STOP "${pids[$1]}"
        if timeout 1 simgpu ledger --json >/dev/null; then return; fi
        kill -CONT "${pids[$1]}"
        sleep 0.1
    done
    fail "job $1 always holds the simulator's lock"
}

for policy in preemptive soft weighted; do
    expect cgpuctl set-policy 0 $policy
    job one -- burn --forever --kernel-us 2000
    job other -- burn --forever --kernel-us 2000
    wait_for 20 is_ready one
    wait_for 20 is_ready other
    wait_for 10 computes one
    for round in 1 2 3; do
        stop one
        computes other
        sleep 0.3 # its turn, the work in flight, and 100 ms: with room for a busy machine
        # Under weighted the slices of a present instance that doesn't compute pass unused.
        case $policy in
            weighted) expect_between "part of the other under $policy" "$(part other 1)" 40 60 ;;
            *) expect_between "part of the other under $policy" "$(part other 1)" 85 101 ;;
        esac
        kill -CONT "${pids[one]}"
        wait_for 5 computes one
    done
    expect_shares 3 5 one=50 other=50
    kill -KILL "${pids[one]}"
    sleep 0.3
    expect_between "part of the other after the kill" "$(part other 1)" 85 101
    wait "${pids[one]}"
    end_job other
    wait_for 5 none_listed
done
wait_for 5 nothing_held
