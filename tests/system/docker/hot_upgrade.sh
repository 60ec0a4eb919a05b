#!/usr/bin/env bash
# Hot upgrades of four busy containers with eight threads, there and back: no call fails, no byte of the ledger changes,
# nothing stays mapped, and all compute on. ROUNDS (25) of two upgrades each.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../upgrade/lib.sh"
rounds=${ROUNDS-25}
install_engine next

container one -- burn --forever --kernel-us 1000 --mib 100 --threads 2
container two -- burn --forever --kernel-us 300 --streams 2 --threads 2 --mib 200
container three -- burn --forever --kernel-us 200 --graph 4 --mib 50 --threads 2
container four -- burn --forever --copy-mib 16 --threads 2
names=(one two three four)
for name in "${names[@]}"; do wait_for 20 container_is_ready "$name"; done
wait_for 10 all_run "$own"

told() {
    for name in "${names[@]}"; do
        echo "$name $(held "${pids[$name]}") $(docker inspect -f '{{.State.Running}} {{.RestartCount}}' "$name")"
    done
}
maps_of() { wc -l <"/proc/${pids[$1]}/maps"; }
before=$(told)
expect cgpuctl upgrade --hot "$next" -q
expect cgpuctl upgrade --hot "$own" -q
declare -A mappings
for name in "${names[@]}"; do mappings[$name]=$(maps_of "$name"); done
for ((round = 1; round < rounds; round++)); do
    expect cgpuctl upgrade --hot "$next" -q
    expect cgpuctl upgrade --hot "$own" -q
done
echo "$((2 * rounds)) upgrades of 4 containers with 8 busy threads"
expect_equal "bytes and states after them" "$(told)" "$before"
expect_equal "the last job" "$(upgrade_now id)" $((2 * rounds))
for name in "${names[@]}"; do
    expect maps "${pids[$name]}" "$own"
    # Allocations of the program's own threads vary, but there must not be one more for each upgrade.
    expect_between "mappings of $name" "$(maps_of "$name")" 1 $((mappings[$name] + 8))
    computes "$name"
done

echo "A container that is paused is waited for, and comes along when it goes on."
expect docker pause four >/dev/null
expect cgpuctl upgrade --hot "$next" --no-wait -q
wait_for 10 goes_over
expect docker unpause four >/dev/null
wait_for 20 at_state ended
expect_equal "result" "$(upgrade_now result)" done
wait_for 10 all_run "$next"
for name in "${names[@]}"; do computes "$name"; done

expect docker stop -t 10 "${names[@]}" >/dev/null
for name in "${names[@]}"; do
    expect_equal "exit status of $name" "$(docker inspect -f '{{.State.ExitCode}}' "$name")" 0
done
wait_for 10 none_listed
wait_for 10 nothing_held
