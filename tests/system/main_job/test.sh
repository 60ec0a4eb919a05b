# The main job: two programs that don't know of cgpu share one V100 at 4 of 15 GiB each.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

# The figures that each sees inside, queried beside the work, in the same job.
in_job='info >"$0.info" && exec burn --forever --kernel-us 1000'
job one --weight 1 -- bash -c "$in_job" "$scratch/one"
job two --weight 2 -- bash -c "$in_job" "$scratch/two"
for name in one two; do
    wait_for 20 is_ready "$name"
    for total in total_mem mem_info_total nvml_v1_total nvml_v2_total; do
        expect_equal "$total in job $name" "$(fact "$scratch/$name.info" "device.0.$total")" "$limit_of_four"
    done
done
expect_equal "jobs listed" "$(cgpuctl list --json | jq -c '[.[].name] | sort')" '["one","two"]'

# A third job that requests more than is left: 16130 - 2 x 4301 = 7528 MiB.
expect_error '7528 *MiB.*Try: ' cgpuctl run --mem 8GiB -- info
expect_equal "jobs after the refusal" "$(cgpuctl list -q | wc -l)" 2

# Beyond the limit: only that job is refused. A neighbour's work continues.
job greedy -- alloc --mib 100 --until-fail --hold
wait_for 20 is_ready greedy
expect_equal "result of the allocation too much" "$(fact "$scratch/greedy.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
expect_between "bytes held at the limit" "$(held "${pids[greedy]}")" $((limit_of_four - 256 * 1024 * 1024)) "$limit_of_four"
computes one
computes two
end_job greedy

# Weights 1:2 count under policy 2; the first seconds are not measured.
expect cgpuctl set-policy 0 weighted
sleep 0.5
expect_shares 8 3 one=33.3 two=66.7
# Weights don't count under policy 1. Both still run.
expect cgpuctl set-policy 0 preemptive
sleep 0.5
expect_shares 8 3 one=50 two=50

end_job one
end_job two
wait_for 5 none_listed

echo "a percentage stays what it was when the number of slices changes; a number of slices stays that number"
expect cgpuctl set-policy 0 fixed
job part --compute 25% -- burn --forever --kernel-us 1000
job number --weight 5 -- burn --forever --kernel-us 1000
wait_for 20 is_ready part
wait_for 20 is_ready number
expect_error "no whole number of 10 slices: 25% of instance $(cgpuctl show part --json | jq -r '.id[:12]') \\(part\\)\\. Try: 8, 12, 16, 20 or 24" \
    cgpuctl set-max-inst 0 10
expect_equal "max_inst after the refusal" "$(cgpuctl show 0 --json | jq .max_inst)" 20
expect cgpuctl set-max-inst 0 8
figures() { cgpuctl show "$1" --json | jq -c '.gpus[0] | [.weight, .asked_share, .target_share]'; }
expect_equal "weight, share asked for, share due" "$(figures part)" '[2,0.25,0.25]'
expect_equal "the same of the other" "$(figures number)" '[5,null,0.625]'
sleep 0.5
expect_shares 5 4 part=28.57 number=71.43
echo "where the driver divides, no share is made up"
expect cgpuctl set-policy 0 native
expect_equal "shares" "$(cgpuctl show part --json | jq -c '.gpus[0] | [.target_share, .achieved_share]')" '[null,null]'
cgpuctl list --no-legend | grep -qw native || fail "cgpuctl list says no share: $(cgpuctl list)"
end_job part
end_job number
wait_for 5 none_listed
wait_for 5 nothing_held
expect_equal "processes that hold the GPU" "$(ledger .holders)" 0
