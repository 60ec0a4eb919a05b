# The first code that calls printf, assert or malloc makes all stacks of its context larger, which nothing announces: 64 to 138 MiB
# on an H100. A program that loads such code and then takes all that it gets, as fast as it can, stays within its limit.
. "$(dirname "$0")/../lib.sh"
limit=$((1024 * 1024 * 1024))

# Without the size of the card's contexts, the first allocation would wait until the driver has shown everything.
for name in first second third; do
    job "$name" --mem 1GiB -- alloc --mib 2 --hold
    wait_for 20 is_ready "$name"
    wait_for 15 is_counted "$name"
    end_job "$name"
done

for name in one two; do
    job "$name" --mem 1GiB -- alloc --stacks-mib 90 --mib 32 --until-fail --hold
    wait_for 20 is_ready "$name"
    expect_equal "result of $name" "$(fact "$scratch/$name.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
    expect_between "bytes of $name" "$(held "${pids[$name]}")" $((limit - (100 << 20))) $limit
done
# With less than that left it isn't refused: most code takes no more than its size.
job full --mem 1200MiB -- bash -c 'alloc --mib 800 --hold & until grep -q ready "$0"; do sleep 0.05; done; exec alloc --local-mib 10 --mib 2' "$scratch/full.out"
wait_for 20 has "$scratch/full.out" '^allocated_mib 2$'
