#!/usr/bin/env bash
# Containers come and go at random on four GPUs, while they, cgpud, dockerd and containerd are killed. By the simulator's trace no
# container ever holds more than its limit, and the limits of the containers on a GPU are never more than it has. At the end nothing
# is left, and mounts and files of the host are as before.
# CGPU_TEST_SCALE: part of 200 containers, default 0.1. CGPU_TEST_SEED: another run.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
wanted=$(jq -n "200 * ${CGPU_TEST_SCALE:-0.1} | ceil")
seed=${CGPU_TEST_SEED:-1}
RANDOM=$seed
most=20 # containers at once

# The node's mounts, without those that dockerd makes and removes for containers; and files that hooks touch in containers.
host() {
    awk '{print $5}' /proc/self/mountinfo | grep -vE '^/(var/lib|run)/docker' | sort
    find /run/cgpu -mindepth 1 | sort
    find /usr/lib/cgpu /etc/docker /etc/ld.so.conf /etc/ld.so.conf.d /usr/lib/x86_64-linux-gnu \
        \( -path '*/lib/x86_64-linux-gnu/*' ! -name 'libcuda*' ! -name 'libnvidia*' -prune \) -o -type f -exec cksum {} + | sort
}
# pids_of NAME: the pids of all processes with this name (the kernel cuts names off after 15 characters).
pids_of() {
    local comm
    for comm in /proc/[0-9]*/comm; do
        [[ $(cat "$comm" 2>/dev/null) == "$1" ]] || continue
        comm=${comm%/comm}
        echo "${comm#/proc/}"
    done
}
names() { docker ps -aq --format '{{.Names}}' 2>/dev/null; }

started=0
declare -A kills=([container]=0 [process]=0 [cgpud]=0 [dockerd]=0 [containerd]=0 [refused]=0)
# Its programs have the container's name, so that the trace tells whose they are. Some ask for more than the limit.
start_one() {
    local name=c$((started + 1)) mib=$((300 + RANDOM % 5000)) gpus=() program
    ((RANDOM % 4)) || gpus=(-e "CGPU_GPUS=$((RANDOM % 4))")
    case $((RANDOM % 3)) in
        0) program="exec ./burn/$name --forever --mib 50" ;;
        1) program="exec ./alloc/$name --mib 20000 --chunk-mib 64 --until-fail --hold" ;;
        2) program="for part in 1 2 3; do ./alloc/$name --mib $((mib / 3)) --until-fail --hold & done; exec ./burn/$name --forever" ;;
    esac
    program="mkdir burn alloc; for kind in burn alloc; do ln -s \"\$(command -v \$kind)\" \$kind/$name; done; $program"
    echo "$name $mib" >>"$scratch/limits"
    started=$((started + 1))
    docker run -d --name "$name" --runtime=cgpu -e "CGPU_MEM=${mib}MiB" "${gpus[@]}" lab sh -c "$program" \
        >/dev/null 2>"$scratch/$name.err" && return
    # It doesn't fit, or something that it needs has just been killed. Nothing else is a reason.
    has "$scratch/$name.err" 'is free|instances|cgpud: |docker daemon|EOF|containerd|ttrpc|shim|connection|Conflict' ||
        fail "$name (seed $seed): $(cat "$scratch/$name.err")"
    kills[refused]=$((kills[refused] + 1))
    docker rm -f "$name" >/dev/null 2>&1
}
end_one() {
    local name pid all
    mapfile -t all < <(names | sort)
    ((${#all[@]})) || return
    name=${all[RANDOM % ${#all[@]}]}
    if ((RANDOM % 3 == 0)); then
        pid=$(docker inspect -f '{{.State.Pid}}' "$name" 2>/dev/null)
        [[ ${pid:-0} == 0 ]] || kill -KILL "$pid" 2>/dev/null
        kills[process]=$((kills[process] + 1))
    else
        kills[container]=$((kills[container] + 1))
    fi
    docker rm -f "$name" >/dev/null 2>&1
}
kill_dockerd() {
    kill -KILL "$(cat "$CGPU_LAB/dockerd.pid")" 2>/dev/null
    kills[dockerd]=$((kills[dockerd] + 1))
    dead() { [[ ! -d /proc/$(cat "$CGPU_LAB/dockerd.pid") ]]; }
    wait_for 10 dead
    rm -f "$CGPU_LAB/docker.pid" /run/docker.pid
    expect start_docker
}
kill_containerd() {
    local pid
    for pid in $(pids_of containerd); do kill -KILL "$pid" 2>/dev/null; done
    kills[containerd]=$((kills[containerd] + 1))
    # dockerd starts it again.
    engine_works() { docker run --rm --runtime=runc lab true >/dev/null 2>&1; }
    wait_for 60 engine_works
}

# What dockerd, cgpud and the runtime make once.
expect docker run --rm --runtime=cgpu -e CGPU_MEM=1GiB lab info >/dev/null
wait_for 10 none_listed
host >"$scratch/before"
expect simgpu trace --start
while ((started < wanted)); do
    chance=$((RANDOM % 100))
    if ((chance < 8)); then
        expect lab-restart-cgpud --kill
        kills[cgpud]=$((kills[cgpud] + 1))
    elif ((chance < 12)); then
        kill_containerd
    elif ((chance < 16)); then
        kill_dockerd
    elif ((chance < 45 || $(names | wc -l) >= most)); then
        end_one
    else
        start_one
    fi
done
echo "$started containers (seed $seed): $(for what in "${!kills[@]}"; do printf '%s %s, ' "$what" "${kills[$what]}"; done)"

all_gone() {
    # shellcheck disable=SC2046 # names are words
    [[ ! $(names) ]] || docker rm -f $(names) >/dev/null 2>&1
    [[ ! $(names) ]]
}
wait_for 60 all_gone
wait_for 20 none_listed
wait_for 20 nothing_held
same_host() {
    host >"$scratch/after"
    diff "$scratch/before" "$scratch/after" >"$scratch/host.out"
}
wait_for 20 same_host
expect_equal "faults in the log" "$(lab-log | grep -ciE 'exception|the daemon failed')" 0
expect simgpu trace >"$scratch/trace"
expect python3 -B "$here/held_at_most.py" "$scratch/trace" "$scratch/limits" 16130
