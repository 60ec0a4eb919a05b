# What cgpud tells of on the bus as it happens: who was admitted or refused, who reached a memory limit, who changed what, what
# escaped, GPUs that go and come, restarts. Each also is a line of the log, once.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/signals.sh"
mib=$((1024 * 1024))
uuid=$(cgpuctl status --json | jq -r '.gpus[0].uuid')

is_told() { [[ $(told "$1") ]]; }
# in_log_once TEXT
in_log_once() { [[ $(grep -cE -- "$1" <(lab-log)) == 1 ]]; }

start_signals

echo "Admitted, and refused with the reason; by whom"
job web --gpus 0 --mem 4GiB -- alloc --mib 3000 --hold
wait_for 20 is_ready web
id=$(cgpuctl list --json | jq -r '.[0].id')
wait_for 5 is_told '.type == "instance-admitted" and .d.name == "web"'
expect_equal "the admission" "$(told '.type == "instance-admitted"' | jq -c '.d | [.instance, ."gpu-uuid", .gpu, .limit, .weight, ."caller-uid"]')" \
    "[\"$id\",\"$uuid\",0,$((4096 * mib)),1,0]"
expect_equal "its caller" "$(told '.type == "instance-admitted"' | jq '.d."caller-pid"')" "${pids[web]}"
expect in_log_once "instance ${id:0:12} \(web\): admitted"
expect_error 'is free' cgpuctl run --name big --gpus 0 --mem 15GiB -- true
wait_for 5 is_told '.type == "instance-refused" and .d.name == "big" and .d.reason == "no_memory" and .d."caller-uid" == 0'
expect in_log_once '\("big"\): refused to user id 0, process [0-9]+: .*is free.* Try: '
for _ in {1..20}; do cgpuctl run --name big --gpus 0 --mem 15GiB -- true 2>/dev/null && fail "it was admitted"; done
wait_for 10 is_told '.type == "instance-refused" and .d.count > 1'

echo "The memory limit, with the bytes asked for and free; a program that tries on and on is told of rarely"
inside() { nsenter --mount --target "${pids[web]}" "$@"; }
for _ in {1..12}; do inside alloc --mib 1200 >"$scratch/alloc.out" 2>&1; done
wait_for 5 is_told '.type == "allocation-refused"'
expect_equal "asked, limit" "$(told '.type == "allocation-refused"' | head -n 1 | jq -c '.d | [.name, .asked, .limit, .count, .refusals]')" \
    "[\"web\",$((1200 * mib)),$((4096 * mib)),1,1]"
expect_between "free" "$(told '.type == "allocation-refused"' | head -n 1 | jq '.d.free')" 0 $((1096 * mib))
counted() { [[ $(told '.type == "allocation-refused"' | jq -s 'map(.d.count) | add') == 12 ]]; }
wait_for 20 counted
expect_between "events of them" "$(told '.type == "allocation-refused"' | wc -l)" 2 6

echo "Who changed what, from which value to which"
cgpuctl set-policy 0 weighted >"$scratch/set" &
setter=$!
wait $setter || fail "set-policy failed"
expect cgpuctl set-weight web 3
expect cgpuctl set-memory web 5GiB --persist
expect cgpuctl set-policy 0 weighted # which it has: nothing is told
changed() { told '.type == "setting-changed"' | jq -r '.d | [.setting, .before, .after] | join(" ")'; }
has_kept() { grep -q '^kept' <(changed); }
wait_for 5 has_kept
expect_equal "changes" "$(changed)" "$(printf '%s\n' 'policy proportional weighted' 'weight 1 3' 'memory-limit 4096MiB 5120MiB' 'kept  memory limit 5GiB')"
expect_equal "who set the policy" "$(told '.d.setting == "policy"' | jq -c '.d | [."caller-uid", ."caller-pid", ."gpu-uuid"]')" "[0,$setter,\"$uuid\"]"
expect in_log_once "policy weighted is set, instead of proportional, by user id 0, process $setter"

echo "Memory without the module"
job past --gpus 0 --mem 1GiB -- escape --mib 2000
wait_for 30 is_told '.type == "escape-found" and .d.kind == "memory" and .d.name == "past"'
expect_equal "its process" "$(told '.type == "escape-found" and .d.kind == "memory"' | jq '.d.pid')" "${pids[past]}"
expect_between "bytes" "$(told '.type == "escape-found" and .d.kind == "memory"' | jq '.d.unexplained')" $((1990 * mib)) $((3000 * mib))
wait_for 20 is_ready past
end_job past
wait_for 10 is_told '.type == "instance-ended" and .d.name == "past"'

echo "A GPU that goes and comes back"
expect simgpu lose 1
wait_for 20 is_told '.type == "gpu-lost" and .d.gpu == 1'
wait_for 20 is_told '.type == "gpu-error" and .d.xid == 79'
expect simgpu return 1
wait_for 20 is_told '.type == "gpu-found" and .d.gpu == 1'

echo "Numbers without gaps, and times"
expect_equal "numbers without a gap" "$(told true | jq -s '[.[].number] | . == [range(.[0]; .[0] + length)]')" true
now=$(date +%s)
expect_between "seconds of the last" "$(told true | tail -n 1 | jq '.time / 1000000')" $((now - 30)) $((now + 1))

echo "A restart"
expect lab-restart-cgpud
wait_for 10 is_told '.type == "daemon-stopped"'
wait_for 10 is_told '.type == "daemon-started" and .d.instances == 1 and .d.gpus == 2'
expect_equal "a new series of numbers" "$(told '.type == "daemon-started"' | jq '.number <= 5')" true
expect in_log 'instance .*\(web\): taken up again'
stop_signals
expect_equal "errors on the bus" "$(errors | sort | uniq -c | grep -v 'NoMemory\|TryAgain')" ''

echo "Without a journal, cgpuctl events says what can be done"
expect_error 'the journal: .* Try: ' cgpuctl events
expect_error "it is no time. Try: " cgpuctl events --since soon
expect_error '\-\-lines "few": it is not a whole number. Try: ' cgpuctl events -n few
end_job web
wait_for 5 none_listed
wait_for 5 nothing_held

# What cgpud tells when it stops comes after the end of its loop, and is no fault.
expect lab-restart-cgpud
expect cgpuctl status
kill "$(cat "$CGPU_LAB/cgpud.pid")"
stopped() { lab-log | tail -n 1 | grep -q 'cgpud stops; jobs go on without it'; }
wait_for 10 stopped # and says nothing else
expect lab-restart-cgpud
