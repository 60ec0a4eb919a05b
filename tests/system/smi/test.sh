# cgpu-smi and cgpuctl inspect on a node with two GPUs, judged by the GPUs' own ledger: bytes exactly, utilisation over the
# interval between two readings. They also survive a restart of cgpud.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

# Bytes and names.
expect cgpuctl set-policy 0 weighted
job holder --gpus 1 -- alloc --mib 300 --hold
job one --gpus 0 --weight 1 -- burn --forever --kernel-us 1000
job two --gpus 0 --weight 2 -- burn --forever --kernel-us 1000
for name in holder one two; do wait_for 20 is_ready "$name"; done
query=(cgpu-smi --query-instance=name,gpu.index,memory.used,memory.limit,processes.pids --format=csv,noheader,nounits)
wait_for 5 is_counted holder 1
for name in one two; do wait_for 5 is_counted "$name"; done
for name in holder one two; do
    gpu=0
    [[ $name != holder ]] || gpu=1
    expect_equal "line of $name" "$("${query[@]}" | grep "^$name, ")" \
        "$name, $gpu, $(($(held "${pids[$name]}" "$gpu") / 1048576)), 4301, ${pids[$name]}"
done
expect_equal "memory of GPU 1" "$(cgpu-smi --query-gpu=memory.used --format=csv,noheader -i 1)" \
    "$(ledger '.gpus[1].used_bytes / 1048576 | floor') MiB"
expect_equal "width" "$(cgpu-smi | awk 'length > 79' | wc -l)" 0
expect_equal "rows of instances" "$(cgpu-smi | grep -cE '^\|   [01] [0-9a-f]{12} ')" 3

# Utilisation over the interval of two readings, beside the ledger over the same time.
simgpu ledger --json >"$scratch/before"
cgpu-smi --json -l 3 -c 2 >"$scratch/readings"
simgpu ledger --json >"$scratch/after"
for name in one two; do
    got=$(jq -s --arg name "$name" '.[1].instances[] | select(.name == $name).gpus[0].utilization_ratio * 100' \
        "$scratch/readings")
    span=$(jq -s '.[1].interval_seconds' "$scratch/readings")
    due=$(jq -n --slurpfile before "$scratch/before" --slurpfile after "$scratch/after" \
        --argjson pid "${pids[$name]}" --argjson span "$span" '
        def used($ledger): [$ledger.processes[] | select(.pid == $pid) | .gpus[] | select(.gpu == 0).gpu_ns] | add;
        (used($after[0]) - used($before[0])) / $span / 1e7')
    echo "utilisation of $name over $span s: $got %, by the ledger $due %"
    expect_between "utilisation of $name" "$got" "$(jq -n "$due - 5")" "$(jq -n "$due + 5")"
done

# The memory that is granted.
expect_equal "inspect" "$(cgpuctl inspect | tail -n 1)" '12/30 (40%)'
expect_equal "inspect, of one" "$(cgpuctl inspect -d | awk '$1 == "two" { print $3, $4 }')" '4 0'
expect_equal "inspect, in bytes" "$(cgpuctl inspect --json | jq .memory_allocated_bytes)" $((3 * limit_of_four))

# Refusals, and a loop over a restart of cgpud.
expect_error 'use memory.total, or others of these: ' cgpu-smi --query-gpu=memory.totl --format=csv
expect_error 'no such GPU' cgpu-smi -i 7
# Its end is waited for, so it is not a job that is left behind.
cgpu-smi --query-instance=name,utilization.gpu --format=csv,noheader,nounits -lms 100 >"$scratch/loop.out" 2>"$scratch/loop.err" &
loop=$!
lines() { (($(grep -c '^two, [0-9]' "$scratch/loop.out") >= $1)); }
wait_for 10 lines 3
lab-restart-cgpud --kill
wait_for 20 lines $(($(wc -l <"$scratch/loop.out") + 6))
kill "$loop"
wait "$loop"
highest=$(sed -nE 's/^two, ([0-9.]+)$/\1/p' "$scratch/loop.out" | sort -g | tail -n 1)
expect_between "highest utilisation over the restart" "$highest" 0 100
for name in holder one two; do end_job "$name"; done
wait_for 5 none_listed
expect_equal "without instances" "$(cgpu-smi | grep -c 'No instances')" 1
