# A container with a time limit: it ends, its engine can't start it again, and after extend it can.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../docker/lib.sh"
asks=(CGPU_MEM=1GiB)
reload() { kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")" && sleep 0.5; }
mkdir -p /etc/cgpu
printf 'ends_soon: 0s\ntime_grace: 1s\n' >/etc/cgpu/cgpud.yaml
expect reload
container web --restart=always -e CGPU_TIME=4s -- alloc --mib 100 --hold
wait_for 20 container_is_ready web
stopped() { [[ $(docker inspect -f '{{.State.Running}}' web) == false ]]; }
wait_for 20 stopped
wait_for 10 none_listed
expect_error 'its time of 4s is over. Try: cgpuctl extend .* 1h, or make another container' docker start web
expect cgpuctl extend web 1h -q
docker start web >/dev/null 2>&1
runs() { [[ $(docker inspect -f '{{.State.Running}}' web) == true ]]; }
wait_for 30 runs
expect grep -q 'left of 1h' <(cgpuctl show web)
expect docker rm -f web >/dev/null
wait_for 10 none_listed
container lazy --restart=always -e CGPU_IDLE=3s -- alloc --mib 100 --hold
wait_for 20 container_is_ready lazy
stopped() { [[ $(docker inspect -f '{{.State.Running}}' lazy) == false ]]; }
wait_for 20 stopped
wait_for 10 none_listed
expect_error 'it was ended after 3s without work. Try: cgpuctl extend .* 1h, or make another container' docker start lazy
expect cgpuctl extend lazy 1h -q
docker start lazy >/dev/null 2>&1
listed() { [[ $(cgpuctl list --json | jq length) == 1 ]]; }
wait_for 30 listed
expect docker rm -f lazy >/dev/null
wait_for 10 none_listed
