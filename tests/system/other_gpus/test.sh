# GPUs that can't be shared (MIG, compute modes, an MPS server) are refused with the reason, and placement takes others; what runs
# on a GPU that becomes one goes on. Cards of different kinds in one request: each gives its own part.
. "$(dirname "$0")/../lib.sh"
v100=0 t4=1

# refused STATUS REGEX COMMAND…: with that exit status, and a message that matches and has a remedy.
refused() {
    local status=$1 regex=$2
    shift 2
    "$@" >"$scratch/refused.out" 2>"$scratch/refused.err"
    expect_equal "exit status of $*" $? "$status"
    grep -qE "$regex" "$scratch/refused.err" || fail "$*: $(cat "$scratch/refused.err")"
    grep -q 'Try: ' "$scratch/refused.err" || fail "$*: no remedy: $(cat "$scratch/refused.err")"
}
obstacle_of() { cgpuctl show "$1" --json | jq -r .obstacle; }
has_obstacle() { obstacle_of "$1" | grep -qE "$2"; }
has_none() { [[ -z $(obstacle_of "$1") ]]; }
gpu_of() { cgpuctl show "$1" --json | jq -r '.gpus[].index'; }

echo "Modes: who names such a GPU is refused, who names none gets the other one, and what runs goes on."
job stays --gpus $v100 --mem 1GiB -- alloc --mib 100 --hold
wait_for 20 is_ready stays
for each in 'mig:MIG mode' 'exclusive:compute mode is EXCLUSIVE_PROCESS' 'prohibited:compute mode is PROHIBITED'; do
    mode=${each%%:*} why=${each#*:}
    simgpu mode $v100 "$mode"
    wait_for 20 has_obstacle $v100 "$why"
    refused 4 "$why" cgpuctl run --gpus $v100 --mem 1GiB -- true
    refused 4 "$why" cgpuctl run --gpus $v100,$t4 --mem 1GiB -- true
    job placed --mem 1GiB -- alloc --mib 10 --hold
    wait_for 20 is_ready placed
    expect_equal "GPU of an instance that names none, mode $mode" "$(gpu_of placed)" $t4
    end_job placed
    expect_equal "GPU of the instance that was there" "$(gpu_of stays)" $v100
done
simgpu mode $t4 mig
wait_for 20 has_obstacle $t4 'MIG mode'
refused 4 'PROHIBITED.*MIG mode.*Try: cgpuctl doctor' cgpuctl run --mem 1GiB -- true
simgpu mode $v100 normal && simgpu mode $t4 normal
wait_for 20 has_none $v100
wait_for 20 has_none $t4
kill -0 "${pids[stays]}" || fail "the instance has ended"

echo "MIG instances by all of NVIDIA's names."
for name in 0:1 nvidia.com/gpu=0:1 MIG-c09d11f5-a565-1f83-903c-a65a7ba138af MIG-GPU-c09d11f5-a565-1f83-903c-a65a7ba138af/1/0; do
    refused 2 "MIG instances are already a fixed part.*CGPU_DISABLE=1" env NVIDIA_VISIBLE_DEVICES="$name" cgpuctl run --mem 1GiB -- true
done

echo "An MPS server of the host keeps its GPU from instances, until it ends."
cp "$(command -v alloc)" "$scratch/nvidia-cuda-mps-server"
"$scratch/nvidia-cuda-mps-server" --mib 10 --hold >"$scratch/mps.out" 2>&1 &
mps=$!
wait_for 20 has "$scratch/mps.out" '^ready'
wait_for 20 has_obstacle $v100 "MPS server \(process $mps\)"
expect has_none $t4
refused 4 "MPS server \(process $mps\)" cgpuctl run --gpus $v100 --mem 1GiB -- true
cgpuctl doctor --json | jq -e '.findings | any(.level == "warning" and (.why | test("MPS server")) and
    (.fix | test("nvidia-cuda-mps-control")))' >/dev/null || fail "doctor doesn't say it"
kill -TERM $mps && wait $mps
wait_for 20 has_none $v100
end_job stays

echo "One in an instance concerns nobody else, whatever it calls itself."
job server --gpus $v100 --mem 1GiB -- "$scratch/nvidia-cuda-mps-server" --mib 10 --hold
wait_for 20 is_ready server
expect_equal "name of the process" "$(cat "/proc/$(cgpuctl show server --json | jq '.gpus[0].processes[0]')/comm")" nvidia-cuda-mps
simgpu xid $v100 13 # a look at the GPUs counts it
has_xid() { [[ $(cgpuctl show $v100 --json | jq .last_xid) == 13 ]]; }
wait_for 20 has_xid
expect has_none $v100
expect cgpuctl run --gpus $v100 --mem 1GiB -- true
end_job server
wait_for 10 none_listed

echo "N GiB over M cards of different kinds: each gives its own part, and the variables ask for the same again."
# of 15 GiB (16130 MiB) and of 14 (15109 MiB)
expect env aliyun.com/gpu-mem=8 aliyun.com/gpu-count=2 cgpuctl run --gpus $v100,$t4 -- \
    sh -c 'echo "limits $(info | sed -n "s/^device\.[01]\.total_mem //p" | xargs)"
        echo "variables $ALIYUN_COM_GPU_MEM_CONTAINER $ALIYUN_COM_GPU_MEM_DEV $NVIDIA_VISIBLE_DEVICES"' >"$scratch/mixed.out"
expect_equal "limits" "$(fact "$scratch/mixed.out" limits)" "$((4301 << 20)) $((4316 << 20))"
uuid() { cgpuctl show "$1" --json | jq -r .uuid; }
expect_equal "variables" "$(fact "$scratch/mixed.out" variables)" "4,4 15,14 $(uuid $v100),$(uuid $t4)"
expect env ALIYUN_COM_GPU_MEM_CONTAINER=4,4 ALIYUN_COM_GPU_MEM_DEV=15,14 NVIDIA_VISIBLE_DEVICES="$(uuid $v100),$(uuid $t4)" \
    cgpuctl run -- info >"$scratch/again.out"
expect_equal "limits of the same again" "$(sed -n 's/^device\.[01]\.total_mem //p' "$scratch/again.out" | xargs)" \
    "$((4301 << 20)) $((4316 << 20))"
# A weight of the one card may be more than the other one has: refused with that card's name.
expect cgpuctl set-max-inst $t4 5
refused 4 "GPU $t4 .*max_inst is 5" cgpuctl run --gpus $v100,$t4 --mem 1GiB --weight 6 -- true
expect cgpuctl set-max-inst $t4 20

echo "Numbers in a CUDA_VISIBLE_DEVICES that a script sets in its job are the job's own."
devices_of() { # CUDA_VISIBLE_DEVICES GPUS: the UUIDs that CUDA shows
    cgpuctl run --gpus "$2" --mem 1GiB -- env CUDA_VISIBLE_DEVICES="$1" info | sed -n 's/^device\.[0-9]*\.uuid //p' | xargs
}
expect_equal "0 in a job with one GPU" "$(devices_of 0 $t4)" "$(uuid $t4)"
expect_equal "0 in a job with both" "$(devices_of 0 $t4,$v100)" "$(uuid $t4)"
expect_equal "1 in a job with both" "$(devices_of 1 $t4,$v100)" "$(uuid $v100)"
expect_equal "1,0 in a job with both" "$(devices_of 1,0 $t4,$v100)" "$(uuid $v100) $(uuid $t4)"
expect_equal "1 in a job with one GPU" "$(devices_of 1 $t4 2>/dev/null)" ""
expect_equal "a UUID" "$(devices_of "$(uuid $t4)" $t4)" "$(uuid $t4)"
expect cgpuctl run --gpus $t4 --mem 1GiB -- sh -c 'export CUDA_VISIBLE_DEVICES=0; vector_add && [ $CUDA_VISIBLE_DEVICES = 0 ]' >"$scratch/numbered.out"
