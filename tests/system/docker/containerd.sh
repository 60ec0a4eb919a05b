#!/usr/bin/env bash
# Containers of containerd without Docker: `ctr run --runc-binary /usr/bin/cgpu-runtime`. They are named with their namespace.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
socket=/run/docker/containerd/containerd.sock # of the private dockerd
command -v ctr >/dev/null || skip "containerd's ctr is not here"
in_namespace() { ctr -a "$socket" -n team "$@"; }
# managed NAME OPTION… -- COMMAND…
managed() {
    local name=$1 options=()
    shift
    while [[ $1 != -- ]]; do options+=("$1") && shift; done
    in_namespace run --runc-binary /usr/bin/cgpu-runtime "${options[@]}" docker.io/library/lab:latest "$name" "${@:2}"
}
expect docker save lab -o "$scratch/lab.tar"
expect in_namespace images import "$scratch/lab.tar" >/dev/null

for mode in legacy cdi; do
    echo "NVIDIA's runtime in its mode $mode"
    mkdir -p /etc/nvidia-container-runtime
    echo "$mode" >/etc/nvidia-container-runtime/mode
    expect_total $((4 << 30)) managed one --rm --env CGPU_MEM=4GiB -- info
    wait_for 10 none_listed
    expect managed two -d --env CGPU_MEM=4GiB -- burn --forever
    is_listed() { [[ $(cgpuctl list --json | jq -r '.[0] | .name, .state' | tr '\n' ' ') == 'team/two running ' ]]; }
    wait_for 20 is_listed
    pids[two]=$(in_namespace task ls | awk '$1 == "two" {print $2}')
    wait_for 20 more_than 0 "${pids[two]}"
    expect_total $((4 << 30)) in_namespace task exec --exec-id look two info
    expect_equal "the pid" "$(cgpuctl show team/two --json | jq .pid)" "${pids[two]}"
    expect_error 'cgpu: 40GiB .*16130MiB.* Try: ' managed three --rm --env CGPU_MEM=40GiB -- info
    expect in_namespace task kill -s KILL two
    wait_for 10 none_listed
    wait_for 10 nothing_held
    for name in two three; do in_namespace container rm "$name" 2>/dev/null || :; done
done
