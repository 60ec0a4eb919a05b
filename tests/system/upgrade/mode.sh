# The node's mode: isolation is turned off when no isolated instance is left, by waiting if requested, and on while jobs run.
# The mode of a job is judged by what its own allocations reach.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../bus/signals.sh"
whole=$((16130 * 1024 * 1024))

mode_now() { cgpuctl status --json | jq -r '.mode + " " + .mode_source'; }
# sees BYTES: the size of the card for a job that requests a GiB and no mode, by CUDA and by NVML.
sees() {
    cgpuctl run --mem 1GiB -- info >"$scratch/info" || fail "info was refused"
    expect_equal "memory by CUDA" "$(fact "$scratch/info" device.0.mem_info_total)" "$1"
    expect_equal "memory by NVML" "$(fact "$scratch/info" device.0.nvml_v1_total)" "$1"
}
# gets LEAST MOST: such a job gets this many MiB of the card and no more, by the ledger.
gets() {
    job probe -- alloc --mib 500 --until-fail --hold
    wait_for 20 is_ready probe
    expect_between "MiB that a job gets" "$(($(held "${pids[probe]}") >> 20))" "$1" "$2"
    end_job probe
    unset "pids[probe]"
    wait_for 5 no_probe
}
no_probe() { ! cgpuctl list --json | grep -q '"probe"'; }
is_limited() {
    sees $((1024 * 1024 * 1024))
    gets 500 1024
}
is_unlimited() {
    sees "$whole"
    gets 15000 16130
}

expect_equal "mode" "$(mode_now)" 'memory+compute configuration'
is_limited

# Refused with the list of the instances that block it, and nothing has changed.
idle one
expect_error "mode none of the node: instances are in the way: [0-9a-f]{12}\. Try: .*--drain" cgpuctl set-mode none
cgpuctl set-mode none 2>/dev/null
expect_equal "exit code" $? 4
expect_error 'mode "some": it is not one of' cgpuctl set-mode some
expect_equal "mode" "$(mode_now)" 'memory+compute configuration'

# Drained: no instance is admitted, and the reason is given; cgpud's death doesn't change that.
expect cgpuctl set-mode none --drain --no-wait -q
expect_error "the node's mode is being changed from memory\+compute to none" cgpuctl run --mem 1GiB -- true
expect grep -q 'switch 1 (mode, memory+compute to none): drain, 0 of 1; waits for 1 instance to end' <(cgpuctl status)
expect_error "is under way" cgpuctl upgrade --cold "$own" --drain
for _ in 1 2; do
    expect lab-restart-cgpud --kill
    expect_error "the node's mode is being changed" cgpuctl run --mem 1GiB -- true
done
expect_equal "mode meanwhile" "$(mode_now)" 'memory+compute configuration'
end_job one
wait_for 10 at_state ended
expect_equal "result" "$(upgrade_now result)" done
expect_equal "mode" "$(mode_now)" 'none switched'
expect_equal "mode of the GPU" "$(cgpuctl status --json | jq -r '.gpus[0].mode')" none
# Now a job that requested a GiB has the whole card.
is_unlimited
idle shared
expect_equal "written down" "$(jq -r .upgrade.mode /var/lib/cgpu/state.json)" none
expect lab-restart-cgpud
expect_equal "mode after a restart" "$(mode_now)" 'none switched'
expect in_log 'mode: the configuration says memory\+compute, and the node was switched to none, which wins'

# On: at once, though a job without isolation runs. It stays as it is, and its GPU takes no other job until it has ended.
warned=$(cgpuctl set-mode memory+compute -q 2>&1) || fail "refused: $warned"
expect cgpuctl set-mode memory --dry-run -q --drain
expect_equal "mode" "$(mode_now)" 'memory+compute switched'
expect_equal "mode of the GPU" "$(cgpuctl status --json | jq -r '.gpus[0].mode')" none
expect grep -q 'GPU 0: it serves mode none until its instances end' <(cgpuctl status 2>&1)
expect_error 'the GPU serves 1 instance in mode none' cgpuctl run --mem 1GiB -- true
end_job shared
wait_for 5 none_listed
expect_equal "mode of the GPU" "$(cgpuctl status --json | jq -r '.gpus[0].mode')" memory+compute
is_limited
expect_error 'mode memory\+compute of the node: it is in force' cgpuctl set-mode memory+compute

# At the deadline, and after a cancel, by the verb or by Ctrl-C: the node admits instances again in the old mode.
idle two
start_signals
said=$(cgpuctl set-mode none --drain --timeout 1 2>&1)
expect_equal "exit code" $? 1
stop_signals
# A waiting client reads the job once, and then only when the bus has signalled a change.
job_path=/org/cgpu1/job/$(upgrade_now id)
reads=$(grep -c "\"path\":\"$job_path\".*\"member\":\"GetAll\"" "$scratch/monitor")
told=$(signals "select(.path == \"$job_path\" or .member == \"JobRemoved\") | .member" | wc -l)
expect_between "reads of the job" "$reads" 1 $((told + 1))
expect grep -q 'failed. 1 instance had not ended in time; memory+compute stays in force.' <<<"$said"
expect cgpuctl set-mode none --drain --no-wait -q
expect cgpuctl set-mode --cancel -q
idle three
env --default-signal=INT cgpuctl set-mode none --drain >"$scratch/interrupted" 2>&1 &
waiting=$!
# It has begun to wait: before that, an interrupt would just end it.
holds_interrupts() { ((0x$(sed -n 's/^SigBlk:\t//p' "/proc/$waiting/status") & 2)); }
wait_for 10 holds_interrupts
wait_for 10 at_state drain
kill -INT "$waiting"
wait "$waiting"
expect_equal "exit code of an interrupted one" $? 1
expect grep -q 'cancelled. It was cancelled; memory+compute stays in force.' "$scratch/interrupted"
idle four

# The same while cgpud is away: a waiting client gets the end from the next one.
cgpuctl set-mode none --drain >"$scratch/waits" 2>&1 &
waiting=$!
wait_for 10 at_state drain
expect lab-restart-cgpud --kill
for name in two three four; do end_job "$name"; done
expect wait "$waiting"
expect grep -q 'switch [0-9]* (mode, memory+compute to none): done. none is in force.' "$scratch/waits"
is_unlimited

# cgpud is killed at an arbitrary moment; afterwards the node is in one mode and admits instances.
for moment in 0 0.001 0.002 0.004 0.008 0.016; do
    wanted=$([[ $(mode_now) == none* ]] && echo memory || echo none)
    cgpuctl set-mode "$wanted" >/dev/null 2>&1 &
    switching=$!
    sleep $moment
    expect lab-restart-cgpud --kill
    wait $switching
    wait_for 20 at_state ended
    now=$(mode_now)
    expect_equal "written down" "$(jq -r '.upgrade | .mode + " " + (.job // "none")' /var/lib/cgpu/state.json)" \
        "${now% *} none"
    if [[ $now == none* ]]; then
        is_unlimited
    else
        is_limited
    fi
done
wait_for 5 none_listed
wait_for 5 nothing_held
