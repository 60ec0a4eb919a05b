#!/usr/bin/env bash
# Two containers share one V100, each with 4 of its 15 parts of memory and with weights 1 and 2.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

asks=("${four_of_15[@]}")
container red -e ALIYUN_COM_GPU_SCHD_WEIGHT=1 -- burn --forever
container blue -e CGPU_WEIGHT=2 -- burn --forever
wait_for 20 container_is_ready red
wait_for 20 container_is_ready blue

echo "Inside, the card is as large as the limit."
expect_total "$limit_of_four" docker exec red info
expect_total "$limit_of_four" docker exec blue info
expect_equal "instances by the names that Docker has for them" "$(cgpuctl list --json | jq -r '.[].name' | sort | xargs)" 'blue red'
expect_equal "their images" "$(cgpuctl list --json | jq -r '.[].image' | xargs)" 'lab lab'
expect_equal "listed ids" "$(cgpuctl list -q | sort)" "$(sort "$scratch/red.id" "$scratch/blue.id")"

echo "NVML lists a container's own process there, by its pid in the container."
for name in red blue; do
    used=$(cgpuctl list --json | jq --arg name "$name" '.[] | select(.name == $name).gpus[0].memory_used_bytes')
    expect_equal "processes in $name" "$(docker exec "$name" processes | grep -v utilization)" "device.0.process 1 $used"
done

echo "Too large an allocation fails there, with error 2, and nowhere else."
expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' docker exec red alloc --mib 4302
computes red
computes blue

echo "A third that does not fit is refused, and the user reads why."
asks=(ALIYUN_COM_GPU_MEM_CONTAINER=8 ALIYUN_COM_GPU_MEM_DEV=15)
expect_error 'cgpu: 8/15 of a card on GPU 0 .* is asked for, and 7528MiB of 16130MiB is free. Try: ' in_container -- info
expect_equal "instances" "$(cgpuctl list -q | wc -l)" 2

echo "The policy changes while both compute."
expect cgpuctl set-policy 0 weighted
sleep 0.5 # what was in flight under the policy before
expect_shares 5 3 red=33.33 blue=66.67
expect cgpuctl set-policy 0 preemptive
sleep 0.5
expect_shares 5 3 red=50 blue=50

echo "A limit that is kept is what the container has when it is started again."
expect cgpuctl set-memory red 3GiB --persist
expect docker restart -t 10 red >/dev/null
find_pid red
computes red
expect_total $((3072 * 1024 * 1024)) docker exec red info
expect cgpuctl forget red

echo "Both end, and nothing of them is left."
expect docker stop -t 10 red blue >/dev/null
expect_equal "exit status of red" "$(docker inspect -f '{{.State.ExitCode}}' red)" 0
wait_for 10 none_listed
wait_for 10 nothing_held
