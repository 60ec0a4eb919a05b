# Idle instances: a job without work for as long as it may is asked to end; one with little work, one whose kernel takes longer and a
# paused one aren't. Where cgpud may not signal, it computes nothing any more, until it is extended.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
asks=(CGPU_MEM=1GiB)
mkdir -p /etc/cgpu
printf 'ends_soon: 2s\ntime_grace: 3s\n' >/etc/cgpu/cgpud.yaml
expect kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
sleep 0.5

echo "Without work for so long it ends; with little work, or one kernel that takes longer, it doesn't, nor while it is paused."
# ends_as_idle NAME: cgpud's log has the event.
ends_as_idle() { in_log "instance .*\($1\): it had no work for .*; its processes get SIGTERM"; }
job slow --idle 6s -- burn --forever --kernel-us 1000 --pace-us 1500000
job paused --idle 6s -- alloc --mib 100 --hold
wait_for 20 cgpuctl pause paused -q 2>/dev/null
wait_for 20 is_ready slow
SECONDS=0
job idle --idle 6s -- bash -c 'burn --seconds 1 --kernel-us 1000 && exec alloc --mib 100 --hold'
wait_for 20 is_ready idle
expect grep -q '^Idle: *ends after 6s without work' <(cgpuctl show idle)
expect_equal "seconds that it may be idle" "$(cgpuctl list --json | jq '.[] | select(.name == "idle").idle_limit_seconds')" 6
wait "${pids[idle]}"
expect_equal "exit status" $? 0
expect_between "seconds that it had" "$SECONDS" 7 18
expect ends_as_idle idle
expect in_log 'instance .*\(idle\): it had no work for [45]s, and is ended in [12]s if it goes on like this'
for name in slow paused; do
    ends_as_idle "$name" && fail "$name isn't idle"
    expect kill -0 "${pids[$name]}"
done
expect cgpuctl resume paused -q
expect cgpuctl extend paused 1h -q
expect_equal "time limit" "$(cgpuctl list --json | jq '.[] | select(.name == "paused").time_limit_seconds')" null
wait "${pids[paused]}"
expect ends_as_idle paused
end_job slow
job long --idle 3s -- burn --forever --kernel-us 9000000
launched() { (($(cgpuctl list --json | jq '.[0].gpus[0].launches // 0') > 0)); }
wait_for 20 launched
sleep 6
ends_as_idle long && fail "a kernel runs"
expect cgpuctl stop long --grace 0 -q
wait_for 10 none_listed

echo "Where cgpud may not signal, it computes nothing any more after the grace, and keeps its memory."
. "$CGPU_LAB/cgpud.sh"
expect stop_cgpud TERM
setpriv --bounding-set=-kill --inh-caps=-kill /usr/sbin/cgpud >>"$CGPU_LAB/cgpud.log" 2>&1 </dev/null &
echo $! >"$CGPU_LAB/cgpud.pid"
wait_for 10 owns_name
job held --idle 3s -- alloc --mib 100 --hold
wait_for 20 is_ready held
held() { [[ $(cgpuctl list --json | jq -c '.[0] | [.idle_over, .gpus[0].paused]') == '[true,true]' ]]; }
wait_for 15 held
expect grep -q 'idle too long$' <(cgpuctl list --no-legend)
expect_error 'it was without work for too long. Try: cgpuctl extend' cgpuctl resume held
expect cgpuctl extend held 1h -q
expect_equal "state" "$(cgpuctl list --json | jq -c '.[0] | [.idle_over, .gpus[0].paused]')" '[false,false]'
end_job held
wait_for 10 none_listed
