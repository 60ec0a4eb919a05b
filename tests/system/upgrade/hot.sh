# Hot upgrades of busy jobs, there and back: no call fails, no byte of the ledger changes, and all compute on. A stopped
# process is waited for; one that starts meanwhile gets the target; refused ones change nothing.
. "$(dirname "$0")/lib.sh"
rounds=${ROUNDS-50}
install_engine next

job one -- burn --forever --kernel-us 1000 --mib 100 --threads 2
job two -- burn --forever --kernel-us 300 --streams 2 --threads 2 --mib 200
job three -- burn --forever --kernel-us 200 --graph 4 --mib 50 --threads 2
job four -- burn --forever --copy-mib 16 --threads 2
busy=(one two three four)
for name in "${busy[@]}"; do wait_for 20 is_ready "$name"; done
idle still
jobs=("${busy[@]}" still)
wait_for 10 all_run "$own"

bytes() {
    for name in "${jobs[@]}"; do echo "$name $(held "${pids[$name]}") $(held "${pids[$name]}" 1)"; done
}
before=$(bytes)
for ((round = 0; round < rounds; round++)); do
    expect cgpuctl upgrade --hot "$next" -q
    expect cgpuctl upgrade --hot "$own" -q
done
echo "$((2 * rounds)) upgrades of 4 jobs with 8 busy threads and an idle one"
expect_equal "bytes after $((2 * rounds)) upgrades" "$(bytes)" "$before"
expect_equal "in force" "$(in_force)" "$own"
expect_equal "the last job" "$(upgrade_now id)" $((2 * rounds))
for name in "${jobs[@]}"; do expect maps "${pids[$name]}" "$own"; done
for name in "${busy[@]}"; do computes "$name"; done

# All sources agree.
said=$(expect cgpuctl upgrade --hot "$next")
expect_equal "what cgpuctl says" "$said" \
    "upgrade $((2 * rounds + 1)) (hot, $own to $next): done. $next is in force in 5 running processes."
expect in_log "upgrade $((2 * rounds + 1)) \(hot, $own to $next\): done"
expect_equal "what the bus says" \
    "$(busctl get-property org.cgpu1 "/org/cgpu1/job/$((2 * rounds + 1))" org.cgpu1.Job Result)" 's "done"'
expect_equal "what status says" "$(in_force)" "$next"
for name in "${jobs[@]}"; do
    expect_equal "what $name runs" "$(runs_what "$name")" "$next"
    expect maps "${pids[$name]}" "$next"
done
expect cgpuctl upgrade --hot "$own" -q

# A stopped process is waited for. A process that starts meanwhile gets the target. The daemon may be killed.
freeze still
expect cgpuctl upgrade --hot "$next" --no-wait -q
wait_for 10 goes_over
expect grep -qE "^upgrade .*: (canary|all), .* of 5; .*was asked and has not answered" <(cgpuctl status)
idle late
expect maps "${pids[late]}" "$next"
expect_error 'is under way' cgpuctl upgrade --cold "$own"
expect lab-restart-cgpud --kill
goes_over || fail "the job after the daemon's death is '$(upgrade_now state)'"
for name in "${busy[@]}"; do computes "$name"; done
thaw still
wait_for 20 at_state ended
expect_equal "result" "$(upgrade_now result)" done
wait_for 10 all_run "$next"
end_job late

# Refused, and nothing changed: the version in force, a version that is not installed, one that doesn't declare itself
# compatible.
expect_error 'it is in force' cgpuctl upgrade --hot "$next"
expect_error 'Try: ' cgpuctl upgrade --hot 9.9.9
expect make_bundle "$scratch" "$CGPU_LAB/engines/next.so" 8.0.0 8.0.0
expect cgpuctl module add -q "$scratch/8.0.0"
expect_error "exchanges running processes with versions from 8.0.0 on" cgpuctl upgrade --hot 8.0.0
expect_error 'instances are in the way' cgpuctl upgrade --cold "$own"
expect_error 'only root may' setpriv --reuid=65534 --regid=65534 --clear-groups cgpuctl upgrade --hot "$own"
expect cgpuctl upgrade --hot "$own" --dry-run -q
expect_equal "in force" "$(in_force)" "$next"

# Ctrl-C cancels.
freeze still
cgpuctl upgrade --hot "$own" >"$scratch/said" 2>&1 &
upgrading=$!
wait_for 10 goes_over
kill -INT $upgrading
wait_for 10 at_state back # the way back is behind the way there, in the socket of the one that is stopped
thaw still
wait $upgrading
expect_equal "exit status" $? 1
expect has "$scratch/said" 'it is cancelled, and goes back'
expect has "$scratch/said" 'cancelled\. It was cancelled; '"$next"' is in force\.'
wait_for 10 all_run "$next"

for name in "${busy[@]}"; do computes "$name"; done
expect cgpuctl upgrade --hot "$own" -q
expect_equal "bytes at the end" "$(bytes)" "$before"
for name in "${jobs[@]}"; do end_job "$name"; done
wait_for 5 none_listed
wait_for 5 nothing_held
