# Every way to get device memory stops at the job's limit, and the limit is the job's, over all its processes.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")
mib=$((1024 * 1024))

for how in plain green pitch array-1d array array-3d layered mipmapped async pool mapped graph captured external; do
    job "$how" -- alloc --how "$how" --mib 64 --until-fail --hold
    wait_for 20 is_ready "$how"
    expect_equal "result of $how" "$(fact "$scratch/$how.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
    # By the card's figure: memory that only a descriptor keeps alive belongs to no process.
    echo "$how: $(ledger '.gpus[0].used_bytes') bytes of $limit_of_four"
    expect_between "bytes held by $how" "$(ledger '.gpus[0].used_bytes')" $((limit_of_four - 80 * mib)) "$limit_of_four"
    end_job "$how"
    wait_for 5 nothing_held
done

# Memory without a size before it exists: code, when it is loaded and when it is used, memory of limits, local memory, contexts.
# An estimate is set aside before; a text's is exact. A further context takes as much as was estimated for the first.
for how in module 'module EAGER' library 'library EAGER' heap local context; do
    mode=LAZY slack=80 limit=$limit_of_four
    [[ $how == *EAGER ]] && mode=EAGER
    [[ $how == context ]] && slack=260
    asks=("${four_of_15[@]}" "CUDA_MODULE_LOADING=$mode")
    # The simulated driver reads all of the code, at some 200 MiB a second.
    [[ $how == module* || $how == library* ]] && limit=$((1024 * mib)) asks=(CGPU_MEM=1GiB "CUDA_MODULE_LOADING=$mode")
    how=${how% *}
    job "$how" -- alloc --how "$how" --mib 64 --until-fail --hold
    wait_for 60 is_ready "$how"
    expect_equal "result of $how" "$(fact "$scratch/$how.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
    echo "$how, $mode: $(held "${pids[$how]}") bytes of $limit"
    expect_between "bytes held by $how" "$(held "${pids[$how]}")" $((limit - slack * mib)) "$limit"
    end_job "$how"
    wait_for 5 nothing_held
done
asks=("${four_of_15[@]}")

# Managed memory is refused, with a line in the log that names the job.
job managed -- alloc --how managed --mib 64
wait "${pids[managed]}"
expect_equal "exit status of managed" $? 1
expect_equal "result of managed" "$(fact "$scratch/managed.out" result)" "801 CUDA_ERROR_NOT_SUPPORTED"
wait_for 5 in_log 'managed'

# A prefetch of pageable memory is refused, too, although the driver's attributes don't offer it.
job prefetch -- alloc --how prefetch --mib 64
wait "${pids[prefetch]}"
expect_equal "result of prefetch" "$(fact "$scratch/prefetch.out" result)" "801 CUDA_ERROR_NOT_SUPPORTED"
wait_for 5 in_log 'a prefetch to the GPU was refused'

# Memory of one process that another one opens is charged once.
job shared -- shared --mib 500
wait_for 20 is_ready shared
expect_equal "wrong bytes in the opened memory" "$(fact "$scratch/shared.out" wrong)" 0
charged_once() {
    local used
    used=$(cgpuctl list --json | jq '.[0].gpus[0].memory_used_bytes')
    ((used == $(ledger '.gpus[0].used_bytes')))
}
wait_for 15 charged_once
end_job shared
wait_for 5 nothing_held

# Four processes of one job together: the first three hold a part each, the last one takes the rest.
job four -- bash -c 'for i in 1 2 3; do alloc --mib 700 --hold >"$0.$i" & done
    for i in 1 2 3; do until grep -q ready "$0.$i"; do sleep 0.05; done; done
    exec alloc --mib 32 --until-fail --hold' "$scratch/four"
wait_for 30 is_ready four
expect_equal "result of the fourth process" "$(fact "$scratch/four.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
echo "four processes: $(ledger '.gpus[0].used_bytes') bytes of $limit_of_four"
expect_between "bytes held by the four" "$(ledger '.gpus[0].used_bytes')" $((limit_of_four - 700 * mib)) "$limit_of_four"
kill -KILL "${pids[four]}"
pkill -TERM -x alloc
wait_for 5 none_listed
wait_for 5 nothing_held

# Freed memory can be used again: sixteen times the limit, one after the other.
job again -- bash -c 'for i in $(seq 16); do alloc --mib 3800 || exit; done'
wait "${pids[again]}"
expect_equal "exit status of one after the other" $? 0
wait_for 5 nothing_held
