# Cold upgrades: only without instances, or after the running ones have ended; new ones are refused meanwhile.
. "$(dirname "$0")/lib.sh"
install_engine next

expect cgpuctl upgrade --cold "$next" -q
expect_equal "in force" "$(in_force)" "$next"
idle one
expect maps "${pids[one]}" "$next"

expect_error "instances are in the way: [0-9a-f]{12}" cgpuctl upgrade --cold "$own"
cgpuctl upgrade --cold "$own" 2>/dev/null
expect_equal "exit code" $? 4

# Draining: no instance is admitted, and the reason is given; the running one continues, also over the daemon's death.
expect cgpuctl upgrade --cold "$own" --drain --no-wait -q
expect_error "the module is being changed from $next to $own" cgpuctl run --mem 1GiB -- true
expect grep -q ': drain, 0 of 1; waits for 1 instance to end' <(cgpuctl status)
expect lab-restart-cgpud --kill
expect_error "the module is being changed" cgpuctl run --mem 1GiB -- true
expect maps "${pids[one]}" "$next"
end_job one
wait_for 10 at_state ended
expect_equal "result" "$(upgrade_now result)" done
expect_equal "in force" "$(in_force)" "$own"
idle two
expect maps "${pids[two]}" "$own"

# At the deadline, and after a cancel: the node admits instances again with the old version.
said=$(cgpuctl upgrade --cold "$next" --drain --timeout 1 2>&1)
expect_equal "exit code" $? 1
expect grep -q "failed. 1 instance had not ended in time; $own stays in force." <<<"$said"
expect cgpuctl upgrade --cold "$next" --drain --no-wait -q
expect cgpuctl upgrade --cancel -q
idle three
for name in two three; do end_job "$name"; done
wait_for 5 none_listed
