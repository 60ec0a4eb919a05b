#!/usr/bin/env bash
# Whichever process of the engine is killed under load: living containers compute on and stay limited, dead ones leak nothing.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

asks=("${four_of_15[@]}")
container red -- burn --forever
container blue -- burn --forever
wait_for 20 container_is_ready red
wait_for 20 container_is_ready blue

both_go_on() {
    expect_equal "instances" "$(cgpuctl list -q | wc -l)" 2
    computes red
    computes blue
    expect_total "$limit_of_four" inside red /usr/local/bin/info
    expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' inside blue /usr/local/bin/alloc --mib 4302
}

# kill_all NAME: kills all processes of the node with this name.
kill_all() {
    local comm killed=0
    for comm in /proc/[0-9]*/comm; do
        [[ $(cat "$comm" 2>/dev/null) == "$1" ]] || continue
        comm=${comm%/comm}
        kill -KILL "${comm#/proc/}" && killed=$((killed + 1))
    done
    ((killed)) || fail "there was no $1 to kill"
}

echo "cgpud is killed and started again."
both_go_on
stop_cgpud KILL
computes red
computes blue
expect start_cgpud
both_go_on

echo "containerd and dockerd are killed, one after the other."
kill_all containerd
both_go_on
kill_all dockerd
both_go_on

echo "The shims are killed when nobody is left to clean up behind them."
abandon_shims
both_go_on
kill_all containerd-shim # the kernel cuts the name off after 15 characters
both_go_on

echo "And cgpud once more, now that nobody but it knows the containers."
stop_cgpud KILL
expect start_cgpud
both_go_on

echo "The containers' first processes are killed: the instances go."
kill -KILL "${pids[red]}"
one_left() { [[ $(cgpuctl list -q) == "$(cat "$scratch/blue.id")" ]]; }
wait_for 10 one_left
computes blue
kill -KILL "${pids[blue]}"
wait_for 10 none_listed
wait_for 10 nothing_held

echo "A new dockerd starts new containers."
expect start_docker
docker rm -f red blue >/dev/null 2>&1
container green -- burn --forever
wait_for 20 container_is_ready green
expect_total "$limit_of_four" docker exec green info

echo "A shim is killed under an engine that runs: containerd ends its container, and the instance goes with it."
kill_all containerd-shim
wait_for 20 none_listed
wait_for 10 nothing_held
docker rm -f green >/dev/null 2>&1
container green -- burn --forever
wait_for 20 container_is_ready green

echo "A container that ends while cgpud is dead is gone when cgpud is back."
stop_cgpud KILL
expect docker rm -f green >/dev/null
expect start_cgpud
wait_for 10 none_listed
wait_for 10 nothing_held
