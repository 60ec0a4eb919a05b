# A job is killed while it computes and holds memory: the other continues, and the killed job's memory can be used again.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

job victim -- burn --forever --mib 3000
job other -- burn --forever --mib 3000
wait_for 20 is_ready victim
wait_for 20 is_ready other
kill -KILL "${pids[victim]}"
wait "${pids[victim]}" 2>/dev/null
expect_equal "exit status of the victim" $? 137
only_other() {
    [[ $(cgpuctl list --json | jq -c '[.[].name]') == '["other"]' ]]
}
wait_for 5 only_other
computes other
expect_equal "GPU memory in use" "$(ledger '.gpus[0].used_bytes')" "$(held "${pids[other]}")"
expect cgpuctl run --mem 11GiB -- alloc --mib 10000
wait_for 5 only_other

# Of two processes of a job, one is killed: the job lives on, and the other may have all of its memory.
job pair -- bash -c 'alloc --mib 3800 --hold >"$0.first" & echo $! >"$0.pid"; wait $!; exec alloc --mib 3800 --hold' "$scratch/pair"
wait_for 20 has "$scratch/pair.first" '^ready'
kill -KILL "$(cat "$scratch/pair.pid")"
wait_for 20 is_ready pair
expect_equal "result of the second process" "$(fact "$scratch/pair.out" result)" "0 CUDA_SUCCESS"
end_job pair
end_job other
wait_for 5 none_listed
wait_for 5 nothing_held
