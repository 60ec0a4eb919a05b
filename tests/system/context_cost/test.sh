# The size of a CUDA context is unknown before it exists: it is counted by an estimate, then by the driver's figure.
. "$(dirname "$0")/../lib.sh"

# As much as in the ledger, by cgpud's own figure.
booked_right() {
    local booked
    booked=$(cgpuctl list --json | jq --arg name "$1" '.[] | select(.name == $name).gpus[0].memory_used_bytes')
    # The driver allocates memory in units of 2 MiB.
    (((booked - $(held "${pids[$1]}")) / (2 * 1024 * 1024) == 0))
}

for name in first another third; do
    job "$name" --mem 2GiB -- alloc --mib 64 --hold
    wait_for 20 is_ready "$name"
    wait_for 15 booked_right "$name"
done
# The estimate is learnt, because three instances agree: a full card of contexts fits, which the first estimate would have
# refused.
job second --mem 300MiB -- bash -c 'alloc --mib 8 --hold >"$0" & alloc --mib 8 --hold' "$scratch/beside"
wait_for 20 is_ready second
wait_for 20 has "$scratch/beside" '^ready'
expect_equal "result of the one beside" "$(fact "$scratch/beside" result)" "0 CUDA_SUCCESS"
expect_between "bytes of all jobs" "$(ledger '.gpus[0].used_bytes')" 0 $(((3 * 2048 + 300) * 1024 * 1024))
