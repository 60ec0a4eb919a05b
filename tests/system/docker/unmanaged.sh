#!/usr/bin/env bash
# Containers that get a GPU and ask for no part of one, under each value of `unmanaged`. A node with two GPUs.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# rule NAME: puts it in force.
rule() {
    mkdir -p /etc/cgpu/cgpud.yaml.d
    echo "unmanaged: $1" >/etc/cgpu/cgpud.yaml.d/unmanaged.yaml
    expect lab-restart-cgpud
}
# listed NAME: what cgpuctl shows of it.
listed() { cgpuctl list --no-legend | grep " $1 "; }
in_json() { cgpuctl list --json | jq -c ".[] | select(.name == \"$1\") | $2"; }
shows() { [[ $(in_json "$1" "$2") == "$3" ]]; }
gone() { [[ -z $(cgpuctl list --no-legend) ]]; }
free=(docker run -d --runtime=cgpu) # without a request

echo "allow: it starts without a limit, is shown, and what it holds is not free."
expect "${free[@]}" --name whale -e NVIDIA_VISIBLE_DEVICES=0 lab alloc --mib 12000 --hold >/dev/null
wait_for 10 container_is_ready whale
wait_for 10 shows whale '.gpus[0].memory_used_bytes > 12000000000' true
expect_equal "its state in JSON" "$(in_json whale '[.managed, .state, .gpus[0].index, .gpus[0].memory_limit_bytes]')" \
    '[false,"unmanaged",0,null]'
listed whale >"$scratch/listed"
expect has "$scratch/listed" 'whale +- +0 +12[0-9]+MiB .* unmanaged'
expect_equal "ids of instances" "$(cgpuctl list -q)" ""
asks=(CGPU_MEM=8GiB CGPU_GPUS=0)
expect_error 'cgpu: 8GiB .*MiB of 16130MiB is free \(unmanaged containers hold 12[0-9]+MiB\)' in_container -- info
asks=(CGPU_MEM=8GiB)
in_container -- sh -c 'echo $NVIDIA_VISIBLE_DEVICES' >"$scratch/placed" || fail "the placed one: $(cat "$scratch/placed")"
expect_equal "where the next one is put" "$(cat "$scratch/placed")" "$(cgpuctl status --json | jq -r '.gpus[1].uuid')"
expect docker exec -d whale alloc --mib 1000 --hold
wait_for 10 shows whale '.gpus[0].memory_used_bytes > 13000000000' true
expect docker rm -f whale >/dev/null
wait_for 10 gone
asks=(CGPU_MEM=8GiB CGPU_GPUS=0)
expect in_container -- info >/dev/null
wait_for 10 none_listed

echo "Those that decline management are such, too; those that get no GPU are not known."
for declines in CGPU_DISABLE=1 CGPU_MEM=0; do
    expect "${free[@]}" --name plain -e NVIDIA_VISIBLE_DEVICES=all -e "$declines" lab sleep 1000 >/dev/null
    wait_for 10 shows plain .managed false
    expect docker rm -f plain >/dev/null
    wait_for 10 gone
done
expect "${free[@]}" --name plain -e NVIDIA_VISIBLE_DEVICES=void lab sleep 1000 >/dev/null
expect gone
expect docker rm -f plain >/dev/null
echo "Without cgpud it starts, too."
stop_cgpud TERM
expect docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=all lab info >/dev/null
expect start_cgpud

echo "whole: it books its GPU."
rule whole
expect "${free[@]}" --name whole -e NVIDIA_VISIBLE_DEVICES=0 lab alloc --mib 1000 --hold >/dev/null
wait_for 10 container_is_ready whole
wait_for 10 shows whole '.gpus[0].memory_used_bytes > 1000000000' true
expect_equal "what it books" "$(in_json whole '[.managed, .gpus[0].index, .gpus[0].memory_limit_bytes]')" \
    "[false,0,$((16130 << 20))]"
expect_error 'cgpu: container .* alone \(unmanaged: whole\), and 1 instance is there. Try: ' \
    docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=0 lab info
expect_error 'cgpu: container .* alone \(unmanaged: whole\)' docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=all lab info
asks=(CGPU_MEM=1GiB CGPU_GPUS=0)
expect_error 'cgpu: 1GiB on GPU 0' in_container -- info
asks=(CGPU_MEM=1GiB)
expect in_container -- info >/dev/null
echo "No variable passes that."
for declines in CGPU_DISABLE=1 CGPU_MEM=0; do
    expect_error 'cgpu: container .* alone \(unmanaged: whole\)' docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=0 -e "$declines" lab info
done
expect docker rm -f whole >/dev/null
wait_for 10 gone
asks=(CGPU_MEM=1GiB CGPU_GPUS=1)
container small -- alloc --mib 100 --hold
expect_error 'cgpu: container .* GPU 1 .*alone' docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=1 lab info
expect docker rm -f small >/dev/null
wait_for 10 none_listed

echo "refuse: it doesn't start, nor while cgpud isn't running."
rule refuse
refused=(docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=all lab info)
expect_error 'cgpu: container .*: it gets a GPU and asks for no part of one.* \(unmanaged: refuse\). Try: CGPU_MEM' "${refused[@]}"
for declines in CGPU_DISABLE=1 CGPU_MEM=0 ALIYUN_COM_GPU_MEM_CONTAINER=1,0; do
    expect_error 'cgpu: container .*: it gets a GPU and asks for no part of one.* \(unmanaged: refuse\). Try: CGPU_MEM' \
        docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=all -e "$declines" lab info
done
expect_error 'cgpu: mode none on GPU .* \(unmanaged: refuse\)' \
    docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=all -e CGPU_MEM=1MiB -e CGPU_MODE=none lab info
expect docker run --rm --runtime=cgpu lab true
expect docker run --rm --runtime=cgpu -e CGPU_DISABLE=1 lab true
stop_cgpud TERM
expect_error 'cgpu: cgpud: it does not answer on the system bus' "${refused[@]}"
expect docker run --rm --runtime=cgpu lab true
expect start_cgpud
rule allow
expect "${refused[@]}" >/dev/null
wait_for 10 gone
