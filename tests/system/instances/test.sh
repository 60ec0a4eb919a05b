# list with filters, ps, wait, stop, logs, apply --skip-missing: what people do with instances that run.
. "$(dirname "$0")/../lib.sh"
asks=(CGPU_MEM=2GiB)
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$scratch"

job web --gpus 0 -- alloc --mib 100 --hold
job train --gpus 1 --user 65534 -- alloc --mib 300 --hold
wait_for 20 is_ready web
wait_for 20 is_ready train

echo "list: by GPU, user and state."
names() { cgpuctl list --json "$@" | jq -r '[.[].name] | sort | join(" ")'; }
nobody=$(getent passwd 65534 | cut -d: -f1)
expect_equal "all" "$(names)" "train web"
expect_equal "those on GPU 0" "$(names --gpu 0)" web
expect_equal "those on GPU 1, by UUID" "$(names --gpu "$(cgpuctl status --json | jq -r '.gpus[1].uuid')")" train
expect_equal "those of a user" "$(names --user "$nobody")" train
expect_equal "the same by id" "$(names --user 65534)" train
expect_equal "those that run" "$(names --state running)" "train web"
expect_equal "those that wait" "$(names --state waiting)" ""
expect_equal "ids" "$(cgpuctl list -q --user root)" "$(cgpuctl list --json | jq -r '.[] | select(.name == "web").id')"
cgpuctl list --gpu 7 2>/dev/null
expect_equal "exit status for a GPU that isn't there" $? 3
expect_error 'the system has no such user.* Try: use one of ' cgpuctl list --user nobdy
expect_error 'Try: queued, reserved, waiting, running, paused or unmanaged' cgpuctl list --state stopped

echo "ps: the processes with their memory."
expect_equal "processes of train" "$(cgpuctl ps train --json | jq -c 'map([.pid, .uid, .command, .name, .index, .outside])')" \
    "[[${pids[train]},65534,\"alloc\",\"train\",1,false]]"
has_memory() { [[ $(cgpuctl ps web --json | jq '.[0].memory_used_bytes') == "$(held "${pids[web]}")" ]]; }
wait_for 10 has_memory
expect_equal "lines of all" "$(cgpuctl ps --no-legend | wc -l)" 2
expect_equal "those of a user" "$(cgpuctl ps --no-legend --user 65534 | awk '{print $1, $2, $3}')" "${pids[train]} $nobody train"

echo "logs: the file that a job writes to; a terminal or pipe isn't kept."
expect_equal "where web's output is" "$(cgpuctl logs web)" "tail -f '$scratch/web.out'"
expect_error "only its user and root may see" "${as_nobody[@]}" cgpuctl logs web

echo "apply --skip-missing: the rest is made."
printf 'set-weight web gone 3\nset-priority train high\n' >"$scratch/batch"
expect_error 'batch:1: ' cgpuctl apply "$scratch/batch"
expect cgpuctl apply --skip-missing "$scratch/batch" >"$scratch/applied.out" 2>"$scratch/applied.err"
expect has "$scratch/applied.err" 'batch:1: gone: there is no such instance; it is left out'
expect has "$scratch/applied.out" '^2 changes made'
expect_equal "the weight" "$(cgpuctl show web --json | jq '.gpus[0].weight')" 3

echo "wait: not longer than it may; over a restart of cgpud, and without work."
expect_error 'not ended after 1 s.* Try: .*cgpuctl stop web' cgpuctl wait web --timeout 1
cgpuctl wait web --timeout 0 2>/dev/null
expect_equal "exit status after the time" $? 1
cgpuctl wait nobody 2>/dev/null
expect_equal "exit status for an instance that isn't there" $? 3
cgpuctl wait web train >"$scratch/wait.out" 2>"$scratch/wait.err" &
waiting=$!
sleep 1
before=$(awk '{print $14 + $15}' "/proc/$waiting/stat")
sleep 2
expect_between "hundredths of a second that it took in two seconds" "$(($(awk '{print $14 + $15}' "/proc/$waiting/stat") - before))" 0 1
expect lab-restart-cgpud --kill
sleep 2
expect kill -0 "$waiting"
end_job web
wait_for 5 has "$scratch/wait.out" '^web: it has ended\.'
expect kill -0 "$waiting"

echo "stop: only with the right to signal, and first by SIGTERM."
job deaf --gpus 0 -- bash -c 'trap "" TERM; alloc --mib 100 --hold & echo ready; while :; do sleep 1; done'
wait_for 20 is_ready deaf
two_in_deaf() { (($(cgpuctl ps deaf --no-legend | wc -l) == 2)); }
wait_for 20 two_in_deaf
"${as_nobody[@]}" cgpuctl stop train deaf >"$scratch/stop.out" 2>&1
expect_equal "exit status without the right" $? 77
expect has "$scratch/stop.out" "deaf: user $nobody may not signal its process [0-9]+, which is of root\. Try: sudo cgpuctl stop deaf\.$"
sleep 0.5
expect kill -0 "${pids[train]}"
expect cgpuctl stop deaf --dry-run >"$scratch/stop.out"
expect has "$scratch/stop.out" 'deaf: it could be stopped: .*alloc.*; nothing was changed'
expect kill -0 "${pids[deaf]}"
expect "${as_nobody[@]}" cgpuctl stop train >"$scratch/stop.out"
expect has "$scratch/stop.out" '^train: stopped\.$'
wait "${pids[train]}"
expect_equal "exit status of a job that obeys" $? 0
wait "$waiting"
expect_equal "exit status of wait" $? 0
SECONDS=0
expect cgpuctl stop deaf --grace 2 >"$scratch/stop.out"
expect_between "seconds for one that doesn't" "$SECONDS" 2 12
expect has "$scratch/stop.out" '^deaf: stopped; [1-9] of its processes were killed\.$'
expect none_listed
wait_for 5 nothing_held
