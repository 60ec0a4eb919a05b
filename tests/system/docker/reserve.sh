#!/usr/bin/env bash
# A container that takes over what cgpuctl reserve holds; what restart policies, a restarted dockerd and compose make of the token,
# which is used once.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
reserve() { cgpuctl reserve -q "$@" 2>"$scratch/reserve.err" || fail "reserve: $(cat "$scratch/reserve.err")"; }
state_of() { cgpuctl list --json | jq -r --arg name "$1" '.[] | select(.name == $name).state'; }
is_running() { [[ $(docker inspect -f '{{.State.Running}}' "$1") == "$2" ]]; }

echo "A container gets the part, with its limit and its owner, and asks for nothing itself."
token=$(CGPU_OWNER=alice reserve --name part --mem 6GiB)
asks=()
container web -e CGPU_RESERVATION="$token" -- alloc --mib 5000 --hold
wait_for 20 container_is_ready web
expect_equal "state" "$(state_of web)" running
expect_equal "reservation" "$(state_of part)" ""
expect_equal "owner" "$(cgpuctl list --json | jq -r '.[0].declared_owner')" alice
expect_total $((6 << 30)) docker exec web info
expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' docker exec web alloc --mib 2000

echo "The token is used; a second container, and the same one when it is started again, are refused."
expect_error 'CGPU_RESERVATION: there is no such reservation: it was used, or its time is over. Try: cgpuctl reserve' \
    docker run --rm --runtime=cgpu -e CGPU_RESERVATION="$token" "$image" true
expect docker stop -t 1 web >/dev/null
wait_for 10 none_listed
expect_error 'there is no such reservation' docker start web
expect docker rm -f web >/dev/null

echo "With a restart policy Docker tries once more, and leaves it."
token=$(reserve --mem 1GiB)
container always --restart=always -e CGPU_RESERVATION="$token" -- sh -c 'echo ready; sleep 3'
wait_for 20 is_running always false
sleep 3 # Docker's restarts begin after 100 ms, and each takes twice as long
expect_equal "restarted" "$(docker inspect -f '{{.State.Running}}' always)" false
docker inspect -f 'restarts: {{.RestartCount}}, error: {{.State.Error}}' always
expect docker rm -f always >/dev/null

echo "A refused container leaves the reservation as it was."
token=$(reserve --name kept --mem 1GiB)
expect_error 'leave out CGPU_MEM' docker run --rm --runtime=cgpu -e CGPU_RESERVATION="$token" -e CGPU_MEM=1GiB "$image" true
expect_equal "state" "$(state_of kept)" reserved
expect cgpuctl stop kept -q
wait_for 10 none_listed
