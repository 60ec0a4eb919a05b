#!/usr/bin/env bash
# Containers that wait for their part (CGPU_WAIT): until there is room, until the deadline, until docker run is interrupted or killed,
# over a restart of cgpud and of dockerd; and nothing is left of any.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
queued() { cgpuctl queue --json | jq -c '[.[].name]'; }
is_queued() { [[ $(queued) == "$1" ]]; }
# starting NAME OPTION…: docker run in the background, with its output in $scratch/NAME.out; its process is in $cli.
starting() {
    env --default-signal=INT docker run --name "$1" --runtime=cgpu -e CGPU_MEM=8GiB "${@:2}" "$image" alloc --mib 100 --hold \
        >"$scratch/$1.out" 2>&1 </dev/null &
    cli=$!
}
# expect_nothing_of NAME: neither in the queue nor an instance nor a process of the runtime; the container, if any, is removed.
no_runtime() { ! pgrep -f 'cgpu-runtime' >/dev/null; }
expect_nothing_of() {
    wait_for 10 is_queued '[]'
    docker rm -f "$1" >/dev/null 2>&1
    wait_for 10 no_runtime
    expect_equal "instances" "$(cgpuctl list --json | jq -r '[.[].name] | join(" ")')" first
    expect_equal "records of the queue" "$(ls /run/cgpu/queued)" ""
}

asks=(CGPU_MEM=12GiB)
container first -- alloc --mib 100 --hold
wait_for 20 container_is_ready first

echo "A wait that is too long is refused, and so is what can never fit."
expect_error 'CGPU_WAIT="1h": a container can wait for 60s at most' docker run --rm --runtime=cgpu -e CGPU_MEM=8GiB -e CGPU_WAIT=1h "$image" true
expect_error 'the whole GPU has 16130MiB' docker run --rm --runtime=cgpu -e CGPU_MEM=20GiB -e CGPU_WAIT=30s "$image" true

echo "Its deadline comes: docker run shows for what it has waited."
expect_error 'it has waited 1s in the queue, and still waits: GPU 0 has 3842MiB free, and 8192MiB are needed' \
    docker run --rm --name late --runtime=cgpu -e CGPU_MEM=8GiB -e CGPU_WAIT=1s "$image" true
expect_nothing_of late

echo "docker run is interrupted, or killed: the engine goes on, and the container starts or is refused."
for signal in INT KILL; do
    starting left -e CGPU_WAIT=4s
    wait_for 20 is_queued '["left"]'
    kill -$signal "$cli"
    wait "$cli"
    expect_nothing_of left
done

echo "cgpuctl stop ends its wait at once."
starting taken -e CGPU_WAIT=60s
wait_for 20 is_queued '["taken"]'
expect cgpuctl stop taken -q
wait "$cli" && fail "docker run succeeded"
has "$scratch/taken.out" 'has taken it from the queue' || fail "docker run says: $(cat "$scratch/taken.out")"
expect_nothing_of taken

echo "What docker does with it meanwhile."
starting held -e CGPU_WAIT=5s
wait_for 20 is_queued '["held"]'
for verb in "inspect held" "ps" "stop -t 0 held" "rm -f held"; do
    began=$(date +%s%N)
    # shellcheck disable=SC2086 # words
    timeout 20 docker $verb >/dev/null 2>&1
    echo "docker $verb: status $?, $((($(date +%s%N) - began) / 1000000)) ms"
done
wait "$cli"
expect_nothing_of held

echo "dockerd is restarted meanwhile, and the other container lives on (live-restore)."
starting restarted -e CGPU_WAIT=5s
wait_for 20 is_queued '["restarted"]'
dockerd=$(cat "$CGPU_LAB/dockerd.pid")
is_gone() { [[ ! -d /proc/$1 ]]; }
kill -TERM "$dockerd"
wait_for 40 is_gone "$dockerd"
wait "$cli"
expect start_docker
wait_for 20 no_runtime
expect_nothing_of restarted

echo "cgpud is restarted meanwhile, and there is room at last."
starting second -e CGPU_WAIT=60s
wait_for 20 is_queued '["second"]'
expect lab-restart-cgpud --kill
wait_for 20 is_queued '["second"]'
expect docker rm -f first >/dev/null
wait_for 30 container_is_ready second
expect docker rm -f second >/dev/null
wait_for 10 none_listed
wait_for 10 is_queued '[]'
