# Every way to compute passes the gate: each program gets its share of the GPU, and none hangs.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../real_driver/install.sh"
asks=("${four_of_15[@]}")
expect cgpuctl set-policy 0 weighted

echo "kernels that are each waited for, most of them not measured: what is charged is what the GPU did"
job waits -- burn --forever --kernel-us 20 --sync-every 1
wait_for 20 is_ready waits
charged_ns_of() { cgpuctl show "$1" --json | jq '.gpus[0].gpu_time_seconds * 1e9 | round'; }
sleep 3 # of such work
least_ns=$(charged_ns_of waits) served_ns=$(gpu_ns "${pids[waits]}") most_ns=$(charged_ns_of waits)
echo "charged $((least_ns / 1000)) to $((most_ns / 1000)) us, served $((served_ns / 1000)) us"
expect_between "us charged" $((least_ns / 1000)) 0 $((served_ns * 106 / 100000))
expect_between "us charged" $((most_ns / 1000)) $((served_ns * 97 / 100000)) $((2 * served_ns / 1000))
end_job waits

echo "kernels that become longer, in two streams of a program that launches more slowly than the GPU works"
job slow -- burn --forever --kernel-us 10 --kernel-us 50 --by-chance --change-after 5000 --pace-us 100 --streams 2
wait_for 20 is_ready slow
has_served() { (($(gpu_ns "${pids[slow]}") > 1000000000)); } # of 50 ms before the change
wait_for 60 has_served
least_ns=$(charged_ns_of slow) served_ns=$(gpu_ns "${pids[slow]}") most_ns=$(charged_ns_of slow)
echo "charged $((least_ns / 1000)) to $((most_ns / 1000)) us, served $((served_ns / 1000)) us"
expect_between "us charged" $((least_ns / 1000)) 0 $((served_ns * 108 / 100000))
expect_between "us charged" $((most_ns / 1000)) $((served_ns * 93 / 100000)) $((2 * served_ns / 1000))
end_job slow

job plain --weight 1 -- burn --forever --kernel-us 1000
wait_for 20 is_ready plain
for how in "--graph 5" --coop "--green current" "--green default" "--green streams"; do
    echo "beside it, with twice the weight: burn $how"
    # shellcheck disable=SC2086 # options are words
    job other --weight 2 -- burn --forever --kernel-us 1000 $how
    wait_for 20 is_ready other
    sleep 0.5 # what was in flight before
    expect_shares 5 4 plain=33.33 other=66.67
    end_job other
done
echo "beside it: two processes that wait for each other by events, and two streams by a word, under every policy"
for policy in 0 1 2 3 4 5; do
    expect cgpuctl set-policy 0 $policy
    job pair -- pingpong --rounds 10
    wait "${pids[pair]}"
    expect_equal "exit status of pingpong under policy $policy" $? 0
    expect_equal "rounds under policy $policy" "$(fact "$scratch/pair.out" rounds)" 10
    job streams -- timeout 60 handshake --rounds 20
    wait "${pids[streams]}"
    expect_equal "exit status of handshake under policy $policy" $? 0
    expect_equal "rounds under policy $policy" "$(fact "$scratch/streams.out" rounds)" 20
done
end_job plain

echo "memsets and copies: held while there is no weight for them"
waits() { cgpuctl list --json | jq -e "any(.[]; .name == \"$1\" and .gpus[0].waited_seconds > 0)" >/dev/null; }
expect cgpuctl set-policy 0 weighted
job whole --weight 20 -- alloc --mib 2 --hold
wait_for 20 is_ready whole
only_whole() { [[ $(cgpuctl list -q | wc -l) == 1 ]]; }
are_held() { # OPTION…: transfers of burn
    job transfers -- burn --forever "$@"
    wait_for 20 waits transfers
    expect_equal "GPU time of burn $* that is held" "$(gpu_ns "${pids[transfers]}")" 0
    expect cgpuctl set-weight whole 19
    expect cgpuctl set-weight transfers 1
    computes transfers
    end_job transfers
    wait_for 5 only_whole
    expect cgpuctl set-weight whole 20
}
are_held --fill-mib 64
are_held --copy-mib 64
are_held --copy-mib 64 --copies 16
for kind in peer box-peer box-batch decompress; do
    are_held --transfer "$kind"
done
# Copies that only a newer driver has.
install_driver "$(dirname "$(readlink -f "$(command -v simgpu)")")/newer/615"
for kind in attributes box-attributes; do
    are_held --transfer "$kind"
done
end_job whole
wait_for 5 none_listed
wait_for 5 nothing_held
