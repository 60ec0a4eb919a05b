#!/usr/bin/env bash
# cdi.sh LAB…: GPUs that a container names by CDI, as `podman --device nvidia.com/gpu=1` does. Podman applies the specification
# before it calls the runtime, and the next runtime is runc, so that nothing but the specification brings the driver in.
. "$(dirname "$0")/lib.sh"
if (($#)); then
    in_node "$@"
    exit
fi

expect make_podman
expect make_root "$CGPU_LAB/root"
expect describe_gpus

# expect_gpu INDEX [OPTION…]: the container has the node of that GPU and no other, sees its UUID, and its limit.
expect_gpu() {
    local index=$1
    shift
    in_container "$@" -- sh -c 'ls /dev; echo "sees $NVIDIA_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES"; info' >"$scratch/info" 2>&1 ||
        fail "a container with $*: $(cat "$scratch/info")"
    expect_equal "nodes of GPUs with $*" "$(grep -E '^nvidia[0-9]' "$scratch/info" | xargs)" "nvidia$index"
    expect has "$scratch/info" '^nvidiactl$'
    expect_equal "what it sees with $*" "$(grep '^sees' "$scratch/info")" "sees $(uuid "$index") $(uuid "$index")"
    expect_equal "total with $*" "$(fact "$scratch/info" device.0.total_mem)" "$((4 << 30))"
}

expect_gpu 1 --device nvidia.com/gpu=1 -e CGPU_MEM=4GiB
expect_gpu 0 --device nvidia.com/gpu=0 -e CGPU_MEM=4GiB -e CGPU_GPUS=all
expect_gpu 1 --device nvidia.com/gpu=1 -e CGPU_MEM=4GiB -e CGPU_GPUS=1
echo "All GPUs named: one is chosen, and the nodes of the others are taken out."
expect_gpu 0 --device nvidia.com/gpu=all -e CGPU_MEM=4GiB
expect_gpu 1 --device nvidia.com/gpu=all -e CGPU_MEM=4GiB -e CGPU_GPUS=1
expect_gpu 1 --device /dev/nvidia0 --device nvidia.com/gpu=1 -e CGPU_MEM=4GiB -e CGPU_GPUS=1

echo "Contradictions."
expect_error 'CGPU_GPUS="0" and the device /dev/nvidia1: they ask for different GPUs. Try: ' \
    in_container --device nvidia.com/gpu=1 -e CGPU_MEM=4GiB -e CGPU_GPUS=0 -- info
wait_for 10 none_listed

echo "A process that podman executes sees the grant, too."
in_container -d --name granted --device nvidia.com/gpu=1 -e CGPU_MEM=4GiB -e ALIYUN_COM_GPU_VISIBLE_DEVICES= -- sleep 1000 >/dev/null ||
    fail "the container did not start"
expect_equal "what it sees" "$(run_podman exec granted sh -c 'echo $NVIDIA_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES')" \
    "$(uuid 1) $(uuid 1)"
expect run_podman rm -f -t 0 granted >/dev/null
wait_for 10 none_listed
