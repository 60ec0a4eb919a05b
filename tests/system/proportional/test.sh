# The policy proportional, which is the default: percentages are parts of the GPU, the rest is divided by weight, and nobody keeps
# what it doesn't use. By the ledger of the simulated GPU. And who asks for a part where the policy ignores it is told so.
. "$(dirname "$0")/../lib.sh"
asks=(CGPU_MEM=2GiB)
policy() { cgpuctl show 0 --json | jq -r .policy_name; }
targets() { cgpuctl list --json | jq -cS '[.[] | {(.name): (.gpus[0].target_share * 1000 | round / 10)}] | add'; }
expect_equal "policy of a GPU that the node has never seen" "$(policy)" proportional

echo "a part beside one that asked for nothing"
job quarter --compute 25% -- burn --forever --kernel-us 1000
job plain -- burn --forever --kernel-us 1000
wait_for 20 is_ready quarter
wait_for 20 is_ready plain
sleep 0.5 # what was in flight before
expect_shares 5 3 quarter=25 plain=75
expect_equal "shares due" "$(targets)" '{"plain":75,"quarter":25}'

echo "a part and weights"
job heavy --weight 2 -- burn --forever --kernel-us 500
wait_for 20 is_ready heavy
sleep 0.5
expect_shares 5 3 quarter=25 plain=25 heavy=50

echo "high priority comes before, and a part is one of what it leaves"
expect cgpuctl set-priority heavy high -q
sleep 0.5
expect_shares 5 4 heavy=50 quarter=12.5 plain=37.5
end_job heavy

echo "a stopped job leaves its part to the others"
kill -STOP "${pids[plain]}"
sleep 0.5
expect_shares 3 3 quarter=100
kill -CONT "${pids[plain]}"
end_job plain

echo "parts alone divide everything"
job half --compute 50% -- burn --forever --kernel-us 1000
wait_for 20 is_ready half
sleep 0.5
expect_shares 5 3 quarter=33.3 half=66.7

echo "where the policy or the mode ignores parts, who asks is told so, and the list says it"
weight_of() { cgpuctl list --no-legend | awk -v name="$1" '$2 == name' | grep -oE ' (25%|50%|3|1)( \(no effect\))?( high)?  ' | xargs; }
expect_equal "weight in the list" "$(weight_of quarter)" '25%'
expect cgpuctl set-policy 0 preemptive
expect_equal "weight in the list" "$(weight_of quarter)" '25% (no effect)'
told() { cgpuctl run "$@" -- true 2>&1 >/dev/null; }
matches() { grep -qE "$2" <<<"$1" || fail "it says: $1"; }
matches "$(told --mem 1GiB --compute 5%)" 'warning: GPU 0 .*: 5% of the compute has no effect under policy preemptive. Try: cgpuctl set-policy 0 proportional.'
matches "$(told --mem 1GiB --weight 3)" 'warning: GPU 0 .*: weight 3 has no effect under policy preemptive. Try: cgpuctl set-policy 0 proportional.'
expect_equal "without a part" "$(told --mem 1GiB)" ''
end_job half
end_job quarter
wait_for 10 none_listed
expect cgpuctl set-mode memory >/dev/null
matches "$(told --mem 1GiB --compute 25%)" 'warning: GPU 0 .*: 25% of the compute has no effect in mode memory, in which the driver divides the compute\. Try: cgpuctl set-mode memory\+compute, or ask for no compute\.'
expect cgpuctl set-mode memory+compute >/dev/null

echo "it is kept over restarts, and the control tree knows it by number"
expect cgpuctl set-policy 0 6
expect_equal "policy" "$(policy)" proportional
expect lab-restart-cgpud --kill
wait_for 10 cgpuctl show 0
expect_equal "policy after a restart" "$(policy)" proportional
