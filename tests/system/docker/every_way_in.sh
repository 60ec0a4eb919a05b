#!/usr/bin/env bash
# However a program gets into a managed container, the limit holds for it; containers that request nothing are not limited.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

expect_whole_card() { # OPTION…
    in_container "$@" -- info >"$scratch/info" || fail "info failed"
    expect_equal "total of an unmanaged container" "$(fact "$scratch/info" device.0.total_mem)" $((16130 * 1024 * 1024))
    expect_equal "instances" "$(cgpuctl list -q)" ""
}

for mode in legacy cdi; do
    echo "NVIDIA's runtime in its mode $mode"
    mkdir -p /etc/nvidia-container-runtime
    echo "$mode" >/etc/nvidia-container-runtime/mode

    asks=("${four_of_15[@]}")
    container "$mode" -- sleep 1000
    expect_total "$limit_of_four" docker exec "$mode" info
    expect_total "$limit_of_four" docker exec "$mode" env -i /usr/local/bin/info
    expect_total "$limit_of_four" docker exec -e ALIYUN_COM_GPU_MEM_CONTAINER=15 -e CGPU_DISABLE=1 "$mode" info
    expect_total "$limit_of_four" docker exec -e LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu "$mode" info
    expect_total "$limit_of_four" docker exec --user 1000:1000 "$mode" info
    expect_total "$limit_of_four" inside "$mode" env -i /usr/local/bin/info
    uuid=$(cgpuctl status --json | jq -r '.gpus[0].uuid')
    # NVIDIA's CDI devices replace the first by a word.
    [[ $mode == cdi ]] && nvidias=void || nvidias=$uuid
    expect_equal "what docker exec sees" \
        "$(docker exec "$mode" sh -c 'echo $NVIDIA_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES $ALIYUN_COM_GPU_MEM_CONTAINER $ALIYUN_COM_GPU_MEM_DEV')" \
        "$nvidias $uuid 4 15"
    expect_equal "its own numbers" "$(docker exec -e CUDA_VISIBLE_DEVICES=0 "$mode" sh -c 'echo $CUDA_VISIBLE_DEVICES')" 0
    expect_error 'Read-only file system|Device or resource busy' \
        docker exec "$mode" rm /run/cgpu/front/libcuda.so.1
    expect docker rm -f "$mode" >/dev/null
    wait_for 10 none_listed

    expect_total "$limit_of_four" in_container -- info
    expect_total "$limit_of_four" in_container --user 1000:1000 -- info
    expect_total "$limit_of_four" in_container --read-only -- info
    expect_total "$limit_of_four" in_container --tmpfs /run -- info
    expect_total "$limit_of_four" in_container --pid=host --cap-add SYS_ADMIN -- info
    expect_total "$limit_of_four" in_container --security-opt no-new-privileges --cap-drop ALL -- info

    asks=()
    expect_whole_card -e NVIDIA_VISIBLE_DEVICES=all
    # An empty value requests the node's default memory, which is 0 unless it was configured.
    for zero in ALIYUN_COM_GPU_MEM_CONTAINER=0 ALIYUN_COM_GPU_MEM_CONTAINER= CGPU_DISABLE=true; do
        asks=("$zero" ALIYUN_COM_GPU_MEM_DEV=15 NVIDIA_VISIBLE_DEVICES=all)
        expect_whole_card
    done
    asks=()
    expect_equal "what lies in /run of a plain container" "$(in_container -- ls -A /run)" ""
done

echo "The environment says what was granted, and rendering is taken out."
echo legacy >/etc/nvidia-container-runtime/mode
asks=("${four_of_15[@]}" NVIDIA_DRIVER_CAPABILITIES=all NVIDIA_VISIBLE_DEVICES=0)
in_container -- env >"$scratch/environment" || fail "no environment"
uuid=$(cgpuctl status --json | jq -r '.gpus[0].uuid')
for line in "NVIDIA_VISIBLE_DEVICES=$uuid" "CUDA_VISIBLE_DEVICES=$uuid" ALIYUN_COM_GPU_MEM_CONTAINER=4 \
    ALIYUN_COM_GPU_MEM_DEV=15 NVIDIA_DRIVER_CAPABILITIES=compute,utility,video; do
    grep -qxF "$line" "$scratch/environment" || fail "no $line in $(cat "$scratch/environment")"
done

echo "The same id again: docker restart."
asks=("${four_of_15[@]}")
container again -- sleep 1000
for _ in 1 2 3; do
    expect docker restart -t 0 again >/dev/null
    find_pid again
    expect_total "$limit_of_four" docker exec again info
    expect_equal "instances" "$(cgpuctl list -q)" "$(cat "$scratch/again.id")"
done
expect docker rm -f again >/dev/null
wait_for 10 none_listed
wait_for 10 nothing_held
