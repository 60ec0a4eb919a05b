#!/usr/bin/env bash
# cdi_parts.sh LAB…: cgpu's own CDI devices, as `cgpuctl cdi generate` describes them: `podman --device cgpu.org/gpu=0-quarter`. With
# cgpu's runtime, and with runc and crun that know nothing of it.
. "$(dirname "$0")/lib.sh"
if (($#)); then
    in_node "$@"
    exit
fi
. "$CGPU_LAB/cgpud.sh"

let_crun_work
expect make_podman
expect make_root "$CGPU_LAB/root"
expect describe_gpus
quarter=$((16130 / 4 << 20)) half=$((16130 / 2 << 20))

echo "The specification."
expect cgpuctl cdi generate --output /etc/cdi/cgpu.json --dry-run >/dev/null
[[ ! -e /etc/cdi/cgpu.json ]] || fail "a dry run wrote the specification"
expect cgpuctl cdi generate --output /etc/cdi/cgpu.json >/dev/null
expect_equal "devices" "$(jq -r '.devices[].name' /etc/cdi/cgpu.json | xargs)" \
    "0-quarter 0-half 0-whole 1-quarter 1-half 1-whole quarter half whole"
expect_equal "printed" "$(cgpuctl cdi generate)" "$(cat /etc/cdi/cgpu.json)"

# expect_part INDEX BYTES OPTION…: the container has this limit, on that GPU and no other.
expect_part() {
    local index=$1 bytes=$2
    shift 2
    in_container "$@" -- sh -c 'ls /dev; info; alloc --mib 9000' >"$scratch/info" 2>&1
    expect_equal "nodes of GPUs with $*: $(cat "$scratch/info")" "$(grep -E '^nvidia[0-9]' "$scratch/info" | xargs)" "nvidia$index"
    expect_equal "total with $*" "$(fact "$scratch/info" device.0.total_mem)" "$bytes"
    expect has "$scratch/info" 'result 2 CUDA_ERROR_OUT_OF_MEMORY'
    wait_for 10 none_listed
}
# refused TEXT OPTION…: no such container, and the user reads why.
refused() {
    expect_error "cgpu: $1.* Try: " in_container "${@:2}" -- info
    wait_for 10 none_listed
}
by_name() { cgpuctl list --json | jq -r ".[] | select(.name == \"$1\") | .gpus[0] | [.index, .memory_limit_bytes, .asked_share] | @tsv"; }

volumes=(--device /dev/nvidia0 -v /dev/simgpu:/dev/simgpu)
for library in /usr/lib/x86_64-linux-gnu/lib{cuda,nvidia-ml}.so.580.65.06; do volumes+=(-v "$library:$library:ro"); done
gpu0=(--device nvidia.com/gpu=0) gpu1=(--device nvidia.com/gpu=1)
for podman_runtime in /usr/sbin/runc /usr/bin/crun /usr/bin/cgpu-runtime; do
    echo "By $podman_runtime."
    expect_part 0 "$quarter" "${gpu0[@]}" --device cgpu.org/gpu=0-quarter
    expect_part 1 "$half" --device cgpu.org/gpu=1-half "${gpu1[@]}"
    # The engine's devices say which GPU.
    expect_part 1 "$quarter" "${gpu1[@]}" --device cgpu.org/gpu=quarter -e CUDA_VISIBLE_DEVICES="$(uuid 1)"
    expect_part 0 "$quarter" "${gpu0[@]}" --device cgpu.org/gpu=0-quarter --user 1000:1000 --cap-drop ALL
    # The hooks of NVIDIA's specification can't write into a read-only root of crun's, with or without cgpu.
    expect_part 0 "$quarter" "${volumes[@]}" --device cgpu.org/gpu=0-quarter --read-only --read-only-tmpfs=false
    for name in red blue; do
        in_container -d --name $name "${gpu0[@]}" --device cgpu.org/gpu=0-quarter -- burn --forever >/dev/null ||
            fail "$name did not start"
    done
    for name in red blue; do expect_equal "the part of $name" "$(by_name $name)" "0	$quarter	0.25"; done
    expect_error 'cgpu: 1/1 of a card .*it has 2 instances. Try: ' in_container "${gpu0[@]}" --device cgpu.org/gpu=0-whole -- info
    expect_equal "refused to a process that podman executes" "$(run_podman exec red alloc --mib 9000 2>&1 | grep -c CUDA_ERROR_OUT_OF_MEMORY)" 1
    expect run_podman rm -f -t 0 red blue >/dev/null
    wait_for 10 none_listed
    wait_for 10 nothing_held

    refused 'cgpu.org/gpu=0-quarter and cgpu.org/gpu=1-quarter: a container can have one part only' \
        "${gpu0[@]}" --device cgpu.org/gpu=0-quarter --device cgpu.org/gpu=1-quarter
    refused '.*CGPU_MEM="4GiB": they ask for different things' "${gpu0[@]}" --device cgpu.org/gpu=0-quarter -e CGPU_MEM=4GiB
    refused 'CGPU_GPUS=.* they ask for different GPUs' "${gpu1[@]}" --device cgpu.org/gpu=0-quarter
    refused "cgpu.org/gpu=0-quarter: the container's variables say that it isn't to be managed" \
        "${gpu0[@]}" --device cgpu.org/gpu=0-quarter -e CGPU_DISABLE=1
done

echo "What only cgpu's runtime can do."
all=(--device nvidia.com/gpu=all)
for podman_runtime in /usr/sbin/runc /usr/bin/crun; do
    refused 'cgpu.org/gpu=quarter: it leaves the choice of the GPU to cgpud' "${all[@]}" --device cgpu.org/gpu=quarter
    refused 'cgpu.org/gpu=0-quarter: the container also gets GPU' "${all[@]}" --device cgpu.org/gpu=0-quarter
    refused 'the container: there is no libcuda.so.1 in it' --device cgpu.org/gpu=0-quarter
    expect stop_cgpud TERM
    expect_error 'cgpu: cgpud: it does not answer.* Try: ' in_container "${gpu0[@]}" --device cgpu.org/gpu=0-quarter -- info
    expect start_cgpud
done
podman_runtime=/usr/bin/cgpu-runtime
expect_part 0 "$quarter" "${all[@]}" --device cgpu.org/gpu=quarter
expect_part 1 "$quarter" "${all[@]}" --device cgpu.org/gpu=1-quarter

echo "By NVIDIA's runtime alone, which brings in what the device names."
podman_runtime=/usr/bin/nvidia-container-runtime
expect cp "$top/tests/lab.d/docker/nvidia-container-runtime" $podman_runtime
mkdir -p /etc/nvidia-container-runtime
for mode in legacy cdi; do
    echo $mode >/etc/nvidia-container-runtime/mode
    in_container --device cgpu.org/gpu=1-quarter -- sh -c 'info; alloc --mib 9000' >"$scratch/info" 2>&1
    expect_equal "total in mode $mode: $(cat "$scratch/info")" "$(fact "$scratch/info" device.0.total_mem)" "$quarter"
    expect has "$scratch/info" 'result 2 CUDA_ERROR_OUT_OF_MEMORY'
    refused 'cgpu.org/gpu=quarter: it leaves the choice of the GPU to cgpud' --device cgpu.org/gpu=quarter -e NVIDIA_VISIBLE_DEVICES=all
done

echo "Parts that are no whole number of slices."
expect cgpuctl set-max-inst 1 10 -q
expect cgpuctl cdi generate --output /etc/cdi/cgpu.json >/dev/null 2>"$scratch/warning"
expect has "$scratch/warning" '1-quarter is left out: 25% of 10 slices .* Try: '
expect_equal "devices" "$(jq -r '.devices[].name' /etc/cdi/cgpu.json | xargs)" \
    "0-quarter 0-half 0-whole 1-half 1-whole quarter half whole"
expect_error 'end in .json or .yaml. Try: ' cgpuctl cdi generate --output /etc/cdi/cgpu
