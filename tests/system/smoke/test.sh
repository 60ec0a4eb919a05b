# The shortest way through everything: the node answers, a job sees its part of the card and computes, and ends.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

expect_equal "GPUs" "$(cgpuctl status --json | jq '.gpus | length')" 1
job info -- info
wait "${pids[info]}"
expect_equal "exit status of info" $? 0
expect_equal "total inside" "$(fact "$scratch/info.out" device.0.total_mem)" "$limit_of_four"
job sum -- vector_add
wait "${pids[sum]}"
expect_equal "exit status of vector_add" $? 0
expect_equal "wrong sums" "$(fact "$scratch/sum.out" wrong)" 0
wait_for 5 none_listed
wait_for 5 nothing_held
