# Two jobs whose kernels on two GPUs wait for each other complete under every policy; and if they launch ahead, with a thread
# or a process for each GPU, most GPU time is work, not waiting for the other GPU's turn.
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

busy_ns() {
    simgpu ledger --json | jq '[.gpus[].busy_ns] | add'
}
by_threads='timeout 60 rendezvous "$@" --threads'
by_processes='for rank in 0 1; do timeout 60 rendezvous "$@" --group $$ --rank $rank & ranks="$ranks $!"; done
    for rank in $ranks; do wait $rank || exit; done'
export ALIYUN_COM_GPU_SCHD_WEIGHT=5
for policy in 0 1 2 3 4; do
    expect cgpuctl set-policy 0 $policy
    expect cgpuctl set-policy 1 $policy
    ((policy == 0)) && rounds=300 || rounds=500
    for way in by_threads by_processes; do
        before=$(busy_ns)
        for name in one two; do
            job "$name" --gpus 0,1 -- sh -c "${!way}" sh --gpus 2 --rounds $rounds --kernel-us 1000 --ahead 50
        done
        for name in one two; do
            wait "${pids[$name]}"
            expect_equal "exit status of $name ahead $way under policy $policy" $? 0
        done
        # Two jobs on two GPUs. Usually 0.6 to 0.95; without gangs it was 0.07 under preemptive.
        part=$(jq -n "2 * 2 * $rounds * 1000000 / ($(busy_ns) - $before)")
        echo "$way under policy $policy: $part"
        expect_between "part of the GPUs' time that was work $way under policy $policy" "$part" 0.45 1
        wait_for 5 none_listed
    done
done
wait_for 5 nothing_held
