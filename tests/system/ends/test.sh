# Time limits: a job whose time is over is asked to end, computes in its grace, and is killed; where cgpud may not signal, it computes
# nothing any more by the simulator's ledger, until it is extended. Over a kill of cgpud, too.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
asks=(CGPU_MEM=1GiB)
reload() { kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")" && sleep 0.5; }
mkdir -p /etc/cgpu/cgpud.yaml.d
printf 'ends_soon: 2s\ntime_grace: 3s\n' >/etc/cgpu/cgpud.yaml
expect reload
left() { cgpuctl list --json | jq --arg name "$1" '.[] | select(.name == $name).time_left_seconds'; }
# told TYPE NAME: cgpud's log has the event.
told() { in_log "instance .*\($2\): its time of .* is over$1"; }

echo "A job that obeys ends when its time is over, and that is told before."
SECONDS=0
job train --time 5s -- alloc --mib 100 --hold
wait_for 20 is_ready train
expect_between "seconds left" "$(left train)" 1 5
expect grep -qE '^Time: +[1-5]s left of 5s' <(cgpuctl show train)
expect grep -qE 'running, [1-5]s left$' <(cgpuctl list --no-legend)
wait "${pids[train]}"
expect_equal "exit status" $? 0
expect_between "seconds that it had" "$SECONDS" 4 8
wait_for 5 none_listed
expect told ' in [12]s' train
expect told '; its processes get SIGTERM now, and after 3s SIGKILL' train

echo "One that doesn't computes in its grace, and is killed then."
job deaf --time 3s -- bash -c 'trap "" TERM; burn --forever --kernel-us 1000 & echo ready; while :; do sleep 1; done'
wait_for 20 is_ready deaf
wait_for 10 told '; its processes' deaf
SECONDS=0
wait "${pids[deaf]}"
expect_equal "exit status" $? 137
expect_between "seconds of grace" "$SECONDS" 1 6
wait_for 10 none_listed

echo "More time, before the end and in the grace; a kill of cgpud doesn't matter."
job long --time 4s -- bash -c 'trap "" TERM; alloc --mib 100 --hold & echo ready; while :; do sleep 1; done'
wait_for 20 is_ready long
expect cgpuctl extend long 3s >"$scratch/extend.out"
expect has "$scratch/extend.out" '^long: it has 3s more\.$'
expect lab-restart-cgpud --kill
wait_for 10 cgpuctl show long >/dev/null
expect_between "seconds left" "$(left long)" 1 7
expect grep -q 'left of 7s' <(cgpuctl show long)
wait_for 15 told '; its processes' long
expect cgpuctl extend long 1h -q
sleep 4
expect kill -0 "${pids[long]}"
expect_equal "dry run" "$(cgpuctl extend long 1h --dry-run)" 'long: it could have 1h more; nothing was changed.'
cgpuctl extend long 90 2>"$scratch/usage"
expect_equal "exit code for a number without unit" $? 2
expect_error 'long: .*has no time limit|no such instance' cgpuctl extend gone 1h
expect cgpuctl stop long --grace 0 -q
wait_for 10 none_listed
job timeless -- alloc --mib 100 --hold
wait_for 20 is_ready timeless
expect_error 'it has no time limit, so it goes on anyway' cgpuctl extend timeless 1h
end_job timeless

echo "The configuration's time, and the limits' longest."
printf 'time: 2h\nidle: 1h\nlimits: {users: {root: {time: 3h, idle: 40m}}}\n' >/etc/cgpu/cgpud.yaml.d/50-time.yaml
expect reload
job default -- alloc --mib 100 --hold
wait_for 20 is_ready default
expect grep -q 'left of 2h' <(cgpuctl show default)
expect grep -q 'ends after 40m without work' <(cgpuctl show default)
expect_error '4h is asked for, and root may have 3h for each instance .limits.users.root.time.' cgpuctl run --mem 1GiB --time 4h -- true
expect_error '1h without work is asked for, and root may have 40m without work for each instance .limits.users.root.idle.' \
    cgpuctl run --mem 1GiB --idle 1h -- true
expect grep -qE '^time +- +3h' <(cgpuctl limits)
expect grep -qE '^idle +- +40m' <(cgpuctl limits)
end_job default
rm /etc/cgpu/cgpud.yaml.d/50-time.yaml
expect reload
wait_for 10 none_listed

echo "Where cgpud may not signal, it computes nothing any more after the grace, and keeps its memory."
. "$CGPU_LAB/cgpud.sh"
expect stop_cgpud TERM
setpriv --bounding-set=-kill --inh-caps=-kill /usr/sbin/cgpud >>"$CGPU_LAB/cgpud.log" 2>&1 </dev/null &
echo $! >"$CGPU_LAB/cgpud.pid"
wait_for 10 owns_name
job held --time 3s -- burn --forever --kernel-us 1000
wait_for 20 is_ready held
wait_for 10 told '; cgpud may not signal its processes .kill.conf.*after 3s it keeps its memory and computes nothing' held
sleep 1
before=$(gpu_ns "${pids[held]}")
sleep 1
(($(gpu_ns "${pids[held]}") > before)) || fail "it doesn't compute in its grace"
is_over() { [[ $(cgpuctl list --json | jq '.[0].gpus[0].paused') == true ]]; }
wait_for 10 is_over
sleep 0.5
before=$(gpu_ns "${pids[held]}")
sleep 1.5
expect_equal "GPU time after the grace" "$(gpu_ns "${pids[held]}")" "$before"
expect grep -q 'time over$' <(cgpuctl list --no-legend)
expect_error 'its time is over. Try: cgpuctl extend' cgpuctl resume held
expect cgpuctl extend held 1h -q
sleep 0.5
before=$(gpu_ns "${pids[held]}")
sleep 1
(($(gpu_ns "${pids[held]}") > before)) || fail "it doesn't compute after extend"
end_job held
wait_for 10 none_listed
