# Requests of containers and the memory that they then see: the cases of cGPU's contract and the other formats.
. "$(dirname "$0")/../lib.sh"
v100=0 t4=1 # indices in this node

# sees GPUS MIB… ASKED…: with the request NAME=VALUE… on these GPUs (a list), every query shows these totals.
sees() {
    local gpus=$1 totals=$2 total number=0 way
    shift 2
    asks=("$@")
    job seen --gpus "$gpus" -- info
    wait "${pids[seen]}"
    expect_equal "exit status of info asking $* ($(cat "$scratch/seen.err"))" $? 0
    for total in ${totals//,/ }; do
        for way in total_mem mem_info_total nvml_v1_total nvml_v2_total; do
            expect_equal "$way of device $number asking $*" "$(fact "$scratch/seen.out" "device.$number.$way")" \
                $((total * 1024 * 1024))
        done
        number=$((number + 1))
    done
    expect_equal "devices asking $*" "$(fact "$scratch/seen.out" devices)" "$number"
    wait_for 5 none_listed
}
mem=ALIYUN_COM_GPU_MEM_CONTAINER dev=ALIYUN_COM_GPU_MEM_DEV

sees $v100 4301 $mem=4 $dev=15
sees $v100 3226 $mem=3 $dev=15
sees $v100 2150 $mem=2 $dev=15
sees $t4 6043 $mem=6 $dev=15
# The card in GiB: 16130 MiB is 15 rounded down and 16 rounded up; the default is rounded down.
sees $v100 4032 $mem=4 $dev=16
sees $v100 4301 $mem=4
# A list has one value for each GPU, and the last one repeats.
sees 0,2 3226,3226 $mem=3 $dev=15
sees 0,2,3 3226,1075,1075 $mem=3,1 $dev=15
# Units as users write them.
sees $v100 5120 CGPU_MEM=5120MiB
sees $v100 4096 CGPU_MEM=4GiB
# Multiples of 128 MiB.
sees $v100 1280 volcano.sh/gpu-mem.128Mi=10
# N GiB over M GPUs are N/M on each.
sees 0,2 2150,2150 aliyun.com/gpu-mem=4 aliyun.com/gpu-count=2
# All of it: the whole GPU, which takes no other instance.
sees $v100 16130 $mem=15 $dev=15

# Not managed.
for zero in 0 1,0,0; do
    env "$mem=$zero" cgpuctl run -- info >"$scratch/whole" 2>"$scratch/whole.err" || fail "$(cat "$scratch/whole.err")"
    expect_equal "total asking $mem=$zero" "$(fact "$scratch/whole" device.0.total_mem)" $((16130 * 1024 * 1024))
    expect has "$scratch/whole.err" "the command isn't managed"
done
# What cards of different sizes count as, as the job sees it, asks for the same again.
job mixed --mem 4301MiB,6043MiB --gpus $v100,$t4 -- sh -c 'echo "again $ALIYUN_COM_GPU_MEM_CONTAINER $ALIYUN_COM_GPU_MEM_DEV"'
wait "${pids[mixed]}"
expect_equal "a grant on two kinds of cards" "$(fact "$scratch/mixed.out" again)" "4,5 15,14"
wait_for 5 none_listed
sees $v100,$t4 4301,5396 $mem=4,5 $dev=15,14
# More than the card has.
expect_error 'Try: ' env $mem=4 $dev=17 cgpuctl run --gpus $v100 -- info
expect_error 'Try: ' env $mem=16 $dev=15 cgpuctl run --gpus $v100 -- info
expect none_listed
