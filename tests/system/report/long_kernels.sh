# What is billed of kernels that run beside others', because they are too long to be waited for: of each job its part, by the
# simulator's ledger, also of a job that is killed before its kernel ends. And after a kill of cgpud, in which no gate keeps kernels
# apart, jobs are soon billed what they have again. One GPU.
. "$(dirname "$0")/../lib.sh"

# billed NAME: GPU seconds, by the report.
billed() { cgpuctl report --by name --json | jq --arg name "$1" '[.rows[] | select(.name == $name).gpu_seconds] | add // 0'; }
# had PID: by the ledger, also of a process that has ended.
had() { ledger '[.processes[] | select(.pid == $pid) | .gpus[].gpu_ns] | add / 1e9' --argjson pid "$1"; }
# expect_billed NAME…: what each had, and at most 7 % off: a fortieth goes into the driver's switches between contexts.
expect_billed() {
    local name due
    wait_for 10 none_listed
    for name in "$@"; do
        due=$(had "${pids[$name]}")
        echo "$name: had $due s, billed $(billed "$name")"
        expect_between "GPU seconds billed to $name" "$(billed "$name")" "$(jq -n "$due * 0.93")" "$(jq -n "$due * 1.07")"
    done
}

echo "A kernel of 700 ms beside short ones."
job long --gpus 0 --mem 1GiB -- burn --kernel-us 700000 --sync-every 1 --pace-us 100000 --seconds 8
job short --gpus 0 --mem 1GiB -- burn --kernel-us 1000 --seconds 8
wait "${pids[long]}" "${pids[short]}"
expect_billed long short

echo "A job that is killed in the middle of a kernel, and its neighbour."
job other --gpus 0 --mem 1GiB -- burn --kernel-us 1000 --forever
computes other
job killed --gpus 0 --mem 1GiB -- burn --kernel-us 8000000 --forever
computes killed
sleep 4 # so long a part of it runs
kill -KILL "${pids[killed]}"
wait "${pids[killed]}"
end_job other
expect_billed killed other

echo "After a kill of cgpud, in which all kernels run beside each other."
names=(one two three four five six seven eight nine ten)
for name in "${names[@]}"; do job "$name" --gpus 0 --mem 300MiB --weight 1 -- burn --kernel-us 20000 --forever; done
for name in "${names[@]}"; do computes "$name"; done
expect lab-restart-cgpud --kill
all_billed() { cgpuctl list --json | jq '[.[].gpus[].gpu_time_seconds] | add'; }
all_had() { ledger '[.processes[] | select(.alive) | .gpus[].gpu_ns] | add / 1e9'; }
# The first seconds are nobody's (docs/cgpuctl.md).
is_billed_again() { jq -en "$(all_billed) > 0.5" >/dev/null; }
wait_for 8 is_billed_again
before=$(all_billed) had_before=$(all_had)
sleep 3
expect_between "GPU seconds billed in three" "$(jq -n "$(all_billed) - $before")" "$(jq -n "0.93 * ($(all_had) - $had_before)")" \
    "$(jq -n "1.07 * ($(all_had) - $had_before)")"
for name in "${names[@]}"; do end_job "$name"; done
