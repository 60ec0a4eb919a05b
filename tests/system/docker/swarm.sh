#!/usr/bin/env bash
# swarm.sh LAB…: a Docker Swarm of two nodes, each a lab of its own with cgpud, dockerd, a GPU and a network. What cgpuctl announces
# places the tasks of a service, and each task is limited. What changes on a node is found, and announced again.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ ${1-} != --in-its-network ]]; then
    command -v ip >/dev/null || { echo "SKIP: the program ip is not here" && exit 77; }
    exec unshare --net -- bash "$here/swarm.sh" --in-its-network "$@"
fi
shift
. "$here/../lib.sh"

# --- two nodes: node-a is in the test's network, node-b in one of its own, and a pair of interfaces connects them

declare -A labs=() inside=() # of each node: the lab, and a process in it
address_of_a=10.9.8.1 address_of_b=10.9.8.2

# node NAME GPUS UNSHARE-OPTION… -- LAB…
node() {
    local name=$1 gpus=$2 own=()
    shift 2
    while [[ $1 != -- ]]; do own+=("$1") && shift; done
    # shellcheck disable=SC2016 # they are the other shell's
    setpriv --pdeathsig TERM unshare --uts "${own[@]}" -- bash -c 'hostname "$1"; exec "${@:2}"' _ "node-$name" \
        "${@:2}" --host-network --docker --gpus "$gpus" -- bash -c 'readlink /proc/self/ns/pid >"$1"; exec sleep 600' _ "$scratch/$name.namespace" &
    labs[$name]=$!
}
# is_up NAME: its first process is known.
is_up() {
    local status
    [[ -d /proc/${labs[$1]} ]] || fail "node $1 has ended"
    [[ -s $scratch/$1.namespace ]] || return
    for status in $(grep -lsE "^NSpid:.*[[:blank:]]1\$" /proc/[0-9]*/status); do
        inside[$1]=$(basename "${status%/status}")
        [[ $(readlink "${status%status}ns/pid") != "$(<"$scratch/$1.namespace")" ]] || return 0
    done
    return 1
}
# on NAME COMMAND…: in this node. The words of the other tests with Docker are known there.
on() {
    # shellcheck disable=SC2016
    nsenter --mount --pid --net --uts --target "${inside[$1]}" \
        env CGPU_LAB=/run/cgpu-lab DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/dbus/system_bus_socket PATH="/run/cgpu-lab/bin:$PATH" \
        bash -c '. "$0/lib.sh"; trap "rm -rf \"$scratch\"" EXIT; "$@"' "$here" "${@:2}"
}
stop_nodes() {
    local status=$1 name
    for name in "${!labs[@]}"; do
        ((status == 0)) || [[ ! ${inside[$name]-} ]] || { echo "--- cgpud's log on node-$name" && on "$name" lab-log | tail -n 30; }
        kill -TERM "${labs[$name]}" 2>/dev/null
    done
    wait
    finish "$status"
}
trap 'stop_nodes $?' EXIT

ip link set lo up
node a V100:16130MiB -- "$@"
node b T4:15109MiB --net -- "$@"
wait_for 60 is_up a
wait_for 60 is_up b
expect ip link add cable-a type veth peer name cable-b netns "${inside[b]}"
expect ip addr add "$address_of_a/24" dev cable-a
expect ip link set cable-a up
expect on b ip addr add "$address_of_b/24" dev cable-b
expect on b ip link set cable-b up

# --- what Swarm knows

# resources NODE: what Swarm knows of this node's GPU, sorted.
resources() {
    on a docker node inspect "node-$1" --format '{{json .Description.Resources.GenericResources}}' |
        jq -c '[.[]?.DiscreteResourceSpec | "\(.Kind)=\(.Value)"] | sort'
}
has_resources() { [[ $(resources "$1") == "$2" ]]; }
# tasks SERVICE: those that should run: a line each, with the node and the state.
tasks() {
    on a docker service ps "$1" --filter desired-state=running --format '{{.Node}} {{.CurrentState}} {{.Error}}' --no-trunc
}
# placed SERVICE: how many tasks run on node-a and node-b, and how many wait.
placed() {
    tasks "$1" | awk '/^node-a Running/ { a++ } /^node-b Running/ { b++ } / Pending .*insufficient resources/ { waiting++ }
        END { print a + 0, b + 0, waiting + 0 }'
}
is_placed() { [[ $(placed "$1") == "$2" ]]; }
says_refused() { on a docker service ps "$1" --no-trunc --format '{{.Error}}' | grep -qE "$2"; }

# limits NODE: the different memory limits of its instances, in bytes.
limits() { on "$1" cgpuctl list --json | jq -c '[.[].gpus[].memory_limit_bytes] | unique'; }

# restart_dockerd: on a node, as `systemctl restart docker` does. Swarm's nodes come back by themselves.
restart_dockerd() {
    kill -TERM "$(docker_pid)"
    wait_until 20 test ! -e "$CGPU_LAB/docker.pid"
    start_docker
}

echo "Both nodes announce what they have, and become a swarm."
restart() { on "$1" eval "$(declare -f restart_dockerd); restart_dockerd"; }
for name in a b; do
    expect on "$name" cgpuctl runtime configure --default -q
    expect on "$name" cgpuctl swarm configure
    on "$name" cgpuctl doctor --json >"$scratch/doctor"
    expect_equal "what hinders node $name" "$(jq -r '.findings[] | select(.check == "Docker Swarm").fix' "$scratch/doctor")" \
        'remove live-restore from the file'
done
expect_error 'live-restore' on a docker swarm init --advertise-addr "$address_of_a"
for name in a b; do
    on "$name" jq 'del(.["live-restore"])' /etc/docker/daemon.json >"$scratch/daemon.json"
    expect on "$name" cp "$scratch/daemon.json" /etc/docker/daemon.json
    expect restart "$name"
done
expect on a docker swarm init --advertise-addr "$address_of_a" >"$scratch/init"
token=$(on a docker swarm join-token -q worker)
expect on b docker swarm join --token "$token" --advertise-addr "$address_of_b" "$address_of_a:2377"
wait_for 20 has_resources a '["cgpu_instances=20","cgpu_memory_mib=16130"]'
wait_for 20 has_resources b '["cgpu_instances=20","cgpu_memory_mib=15109"]'

echo "Four tasks of 8000MiB: two fit on node-a, one on node-b, and one waits."
mib=8000
expect on a docker service create -d --no-resolve-image --name web --replicas 4 --generic-resource "cgpu_memory_mib=$mib" \
    --generic-resource cgpu_instances=1 --env "CGPU_MEM=${mib}MiB" lab burn --forever >"$scratch/create"
wait_for 40 is_placed web '2 1 1'
for name in a b; do
    expect_equal "limits on node $name" "$(limits "$name")" "[$((mib << 20))]"
    for task in $(on "$name" docker ps -q); do
        expect on "$name" expect_total $((mib << 20)) docker exec "$task" info
        expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' on "$name" docker exec "$task" alloc --mib "$mib"
        # shellcheck disable=SC2016
        expect_equal "what Swarm tells the task" "$(on "$name" docker exec "$task" sh -c 'echo $DOCKER_RESOURCE_CGPU_MEMORY_MIB')" "$mib"
    done
done

echo "A stack: a file of compose. node-b has room for it."
cat >"$scratch/stack.yaml" <<'YAML'
version: "3.5"
services:
  trainer:
    image: lab
    command: burn --forever
    networks: [host]
    environment:
      CGPU_MEM: 1000MiB
    deploy:
      resources:
        reservations:
          generic_resources:
            - discrete_resource_spec: {kind: cgpu_memory_mib, value: 1000}
            - discrete_resource_spec: {kind: cgpu_instances, value: 1}
networks:
  host: {external: true, name: host}
YAML
expect on a docker stack deploy --resolve-image never -c "$scratch/stack.yaml" lab >"$scratch/deploy" 2>&1
wait_for 40 is_placed lab_trainer '0 1 0'
expect on b expect_total $((1000 << 20)) docker exec "$(on b docker ps -q --filter name=lab_trainer)" info
expect on a docker stack rm lab >"$scratch/rm"

echo "A task that asks cgpud for more than it has reserved: Swarm shows cgpud's reason."
expect on a docker service create -d --no-resolve-image --name greedy --restart-condition none --constraint node.hostname==node-b \
    --generic-resource cgpu_memory_mib=1000 --env CGPU_MEM=12GiB lab burn --forever >"$scratch/create"
wait_for 20 says_refused greedy 'cgpu: .*12GiB .*Try: '
expect on a docker service rm greedy >"$scratch/rm"

echo "A task that waits, is refused, and whose next one waits again; and one with a token, which is used once."
on_a=(-d --no-resolve-image --constraint node.hostname==node-a --restart-delay 1s)
expect on a docker service create "${on_a[@]}" --name waits --env CGPU_MEM=12GiB --env CGPU_WAIT=2s lab burn --forever >"$scratch/create"
wait_for 30 says_refused waits 'cgpu: .*it has waited 2s in the queue'
is_waiting() { [[ $(on a cgpuctl queue --json | jq length) == 1 ]]; }
wait_for 20 is_waiting
expect on a docker service rm waits >"$scratch/rm"
nobody_waits() { [[ $(on a cgpuctl queue --json) == '[]' ]]; }
wait_for 20 nobody_waits
token=$(on b cgpuctl reserve -q --mem 1GiB)
expect on a docker service create -d --no-resolve-image --constraint node.hostname==node-b --restart-delay 1s --restart-max-attempts 2 \
    --name once --env CGPU_RESERVATION="$token" lab sh -c 'sleep 2' >"$scratch/create"
wait_for 40 says_refused once 'cgpu: CGPU_RESERVATION: there is no such reservation'
expect_equal "tasks that have run" "$(on a docker service ps once --format '{{.CurrentState}}' | grep -c ^Complete)" 1
expect on a docker service rm once >"$scratch/rm"

echo "What a GPU takes is changed: doctor finds it, and after configure and a restart of dockerd Swarm knows it."
expect on b cgpuctl set-max-inst 0 10 -q
on b cgpuctl doctor --json >"$scratch/doctor"
expect_equal "the remedy" "$(jq -r '.findings[] | select(.check == "Docker Swarm").fix' "$scratch/doctor")" \
    'cgpuctl swarm configure, and then systemctl restart docker, which ends the node'"'"'s tasks'
expect on b cgpuctl swarm configure -q
expect_equal "a second time" "$(on b cgpuctl swarm configure)" \
    '/etc/docker/daemon.json: this node announces cgpu_memory_mib=15109 and cgpu_instances=10 to Docker Swarm; nothing was changed.'
expect restart b
wait_for 30 has_resources b '["cgpu_instances=10","cgpu_memory_mib=15109"]'
wait_for 40 is_placed web '2 1 1'
# The manager may still show the task that ended with dockerd.
limits_are() { [[ $(limits "$1") == "$2" ]]; }
wait_for 40 limits_are b "[$((mib << 20))]"

echo "The service goes, and nothing is left."
expect on a docker service rm web >"$scratch/rm"
for name in a b; do
    wait_for 20 on "$name" none_listed
    wait_for 20 on "$name" nothing_held
done
