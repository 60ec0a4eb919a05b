# Events in the journal of a booted node: their fields, queries by name and id, the catalog, and cgpuctl events.
. "$(dirname "$0")/../lib.sh"
chmod 755 "$scratch"
mib=$((1024 * 1024))

# journal FIELD=VALUE…: cgpud's entries with them, as JSON.
journal() { journalctl --sync && journalctl --no-pager -q -o json -u cgpud "$@"; }
is_in_journal() { [[ $(journal "$@") ]]; }
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

job web --mem 4GiB -- alloc --mib 3000 --hold
wait_for 20 is_ready web
id=$(cgpuctl list --json | jq -r '.[0].id')
uuid=$(cgpuctl status --json | jq -r '.gpus[0].uuid')
nsenter --mount --target "${pids[web]}" alloc --mib 1200 >"$scratch/alloc.out" 2>&1 && fail "it got the memory"
cgpuctl set-weight web 3 &
setter=$!
wait $setter || fail "set-weight failed"
expect_error 'is free' cgpuctl run --name big --mem 15GiB -- true
wait_for 10 is_in_journal CGPU_EVENT=instance-refused

echo "Fields; by name, and by id"
wait_for 10 is_in_journal CGPU_EVENT=allocation-refused
expect_equal "the refused allocation" \
    "$(journal CGPU_EVENT=allocation-refused | jq -c '[.CGPU_INSTANCE, .CGPU_NAME, .CGPU_GPU, .CGPU_GPU_UUID, .CGPU_ASKED, .CGPU_LIMIT, .PRIORITY]')" \
    "[\"$id\",\"web\",\"0\",\"$uuid\",\"$((1200 * mib))\",\"$((4096 * mib))\",\"4\"]"
expect_equal "the change" "$(journal CGPU_EVENT=setting-changed | jq -c '[.CGPU_SETTING, .CGPU_BEFORE, .CGPU_AFTER, .CGPU_CALLER_UID, .CGPU_CALLER_PID]')" \
    "[\"weight\",\"1\",\"3\",\"0\",\"$setter\"]"
expect_equal "the refusal" "$(journal CGPU_NAME=big | jq -c '[.CGPU_EVENT, .CGPU_REASON]')" '["instance-refused","no_memory"]'
types() { journal "$@" | jq -r '.CGPU_EVENT // empty' | sort -u | tr '\n' ' '; }
expect_equal "events of web" "$(types CGPU_NAME=web)" 'allocation-refused instance-admitted setting-changed '
expect_equal "by id" "$(types "CGPU_INSTANCE=$id")" "$(types CGPU_NAME=web)"
expect_equal "by GPU" "$(types "CGPU_GPU_UUID=$uuid" | grep -o 'gpu-found')" gpu-found
# Lines that are no events have the job's full id and name, too.
expect grep -q 'lives with process' <(journalctl --no-pager -o cat -u cgpud CGPU_NAME=web "CGPU_INSTANCE=$id")
expect_equal "lines of an admission" "$(journalctl --no-pager -o cat -u cgpud | grep -c ' (web): admitted')" 1

echo "The catalog"
expect grep -q 'User id 0' <(journalctl --no-pager -x -u cgpud CGPU_EVENT=instance-admitted)
expect grep -q 'web has reached its memory limit' <(journalctl --no-pager -x -u cgpud CGPU_EVENT=allocation-refused)
expect grep -q 'weight was "1", and is "3"' <(journalctl --no-pager -x -u cgpud CGPU_EVENT=setting-changed)

echo "cgpuctl events"
cgpuctl events >"$scratch/events" || fail "events failed"
expect has "$scratch/events" '^TIME +EVENT +INSTANCE +GPU +MESSAGE$'
expect has "$scratch/events" '^20[0-9-]+ [0-9:]+  daemon-started +- +- +cgpud .* serves org.cgpu1'
expect has "$scratch/events" '  instance-admitted +web +0 +admitted, '
expect has "$scratch/events" '  setting-changed +web +0 +weight 3 on GPU 0 .* is set, instead of 1, until it ends, by user id 0'
expect_equal "of big" "$(cgpuctl events big --no-legend | awk '{print $3}')" instance-refused
expect_equal "by type" "$(cgpuctl events --type setting-changed --json | jq -r .caller_pid)" "$setter"
expect_equal "by the beginning of the id" "$(cgpuctl events "${id:0:6}" --json | jq -r .type | sort -u | tr '\n' ' ')" "$(types CGPU_NAME=web)"
expect_equal "of another GPU" "$(cgpuctl events --gpu 7)" ''
expect_equal "since now" "$(cgpuctl events --since now)" ''
expect_equal "the last two" "$(cgpuctl events -n 2 --json)" "$(cgpuctl events --json | tail -n 2)"
expect_equal "the last one of a type" "$(cgpuctl events --lines 1 --type instance-refused --json)" \
    "$(cgpuctl events --type instance-refused --json | tail -n 1)"
expect_equal "the last ones since now" "$(cgpuctl events -n 5 --since now)" ''
expect_equal "none" "$(cgpuctl events -n 0)" ''
expect_equal "more than there are" "$(cgpuctl events -n 100000 --json | wc -l)" "$(cgpuctl events --json | wc -l)"
expect_equal "since before" "$(cgpuctl events --since '1h 30min' --json | wc -l)" "$(cgpuctl events --json | wc -l)"
# Only what cgpud's own unit has written counts.
printf 'CGPU_EVENT=gpu-lost\nCGPU_NAME=web\nMESSAGE=forged\nSYSLOG_IDENTIFIER=cgpud\n' | logger --journald || fail "logger failed"
journalctl --sync
cgpuctl events web | grep -q forged && fail "another program's entry is shown"
expect_error 'you may not read it.* Try: sudo ' as_nobody cgpuctl events

echo "--follow"
cgpuctl events --follow --json >"$scratch/followed" &
follower=$!
wait_for 10 has "$scratch/followed" instance-refused
expect cgpuctl set-priority web high
wait_for 10 has "$scratch/followed" '"type":"setting-changed".*"setting":"priority".*'
expect systemctl restart cgpud
wait_for 20 has "$scratch/followed" '"type":"daemon-stopped"'
wait_for 20 has "$scratch/followed" '"type":"instance-resumed".*"name":"web"'
kill -TERM $follower # a shell without a terminal has its background jobs ignore SIGINT
wait $follower
expect_equal "its lines are objects" "$(jq -c .time_seconds "$scratch/followed" | wc -l)" "$(wc -l <"$scratch/followed")"
expect_equal "none is shown twice" "$(sort "$scratch/followed" | uniq -d)" ''
end_job web
wait_for 10 none_listed
is_shown() { grep -q "$1" <(cgpuctl events --type instance-ended); }
wait_for 10 is_shown ' web '
