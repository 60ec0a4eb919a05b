#!/usr/bin/env bash
# cgpuctl wait, stop, logs and ps of containers.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
asks=(CGPU_MEM=2GiB)
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$scratch"

container web -e CGPU_OWNER=alice -- alloc --mib 100 --hold
container shell --restart=always -- sh -c 'alloc --mib 100 --hold & wait'
wait_for 20 container_is_ready web
wait_for 20 container_is_ready shell

echo "Whose: what the container declares."
expect_equal "those of alice" "$(cgpuctl list --json --user alice | jq -r '.[].name')" web
expect_equal "its process" "$(cgpuctl ps web --json | jq '.[0].pid')" "${pids[web]}"
expect_equal "where the output is" "$(cgpuctl logs web)" "docker logs web"
expect_equal "the same for another user" "$("${as_nobody[@]}" cgpuctl logs web)" "docker logs web"

echo "Other users are pointed to the engine; root ends it, and the engine may start it again."
expect_error "web: it is a container of root's engine, .* Try: docker stop web\." "${as_nobody[@]}" cgpuctl stop web
cgpuctl wait web >"$scratch/wait.out" &
waiting=$!
sleep 0.5 # it knows which one by then
expect cgpuctl stop web --grace 3 >"$scratch/stop.out"
expect has "$scratch/stop.out" '^web: stopped'
wait "$waiting"
expect_equal "exit status of wait" $? 0
stopped() { [[ $(docker inspect -f '{{.State.Running}}' "$1") == false ]]; }
wait_for 10 stopped web
expect cgpuctl stop shell --grace 1 >"$scratch/stop.out"
started_again() { [[ $(docker inspect -f '{{.RestartCount}}' shell) != 0 ]]; }
wait_for 10 started_again
expect docker rm -f shell web >/dev/null
wait_for 10 none_listed
