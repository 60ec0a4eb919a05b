# Two jobs whose kernels on two GPUs wait for each other come through under every policy.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

for policy in 0 1 2 3 4 5; do
    expect cgpuctl set-policy 0 $policy
    expect cgpuctl set-policy 1 $policy
    for name in one two; do
        job "$name" --gpus 0,1 -- timeout 60 rendezvous --gpus 2 --rounds 50
    done
    for name in one two; do
        wait "${pids[$name]}"
        expect_equal "exit status of $name under policy $policy" $? 0
        expect_equal "rounds of $name under policy $policy" "$(fact "$scratch/$name.out" rounds)" 50
    done
    wait_for 5 none_listed
done
wait_for 5 nothing_held
