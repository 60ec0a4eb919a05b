#!/usr/bin/env bash
# Containers by compose, the version 1.29 of Debian 12 or 2.26 of Debian 13: `runtime: cgpu` with scale, exec and restart; without
# a runtime's name where cgpu is the default one; and `deploy.resources` with devices, which Docker makes DeviceRequests of, also
# of cgpu's own kind if Docker knows CDI. Two GPUs.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if docker compose version >/dev/null 2>&1; then
    program=(docker compose --ansi never) dash=-
elif command -v docker-compose >/dev/null; then
    program=(docker-compose --no-ansi) dash=_
else
    skip "compose is not here"
fi
compose() { "${program[@]}" --project-directory "$scratch" -p lab -f "$scratch/compose.yaml" "$@"; }
name_of() { echo "lab$dash$1$dash$2"; } # SERVICE INDEX
running() { [[ $(compose ps -q "$1" | wc -l) == "$2" && $(cgpuctl list -q | wc -l) == "$2" ]]; }
# expect_gone: compose takes all down, and nothing of it is left.
expect_gone() {
    expect compose down -t 2 >/dev/null 2>&1
    wait_for 10 none_listed
    wait_for 10 nothing_held
}

echo "By the runtime's name, several of one service."
cat >"$scratch/compose.yaml" <<'YAML'
version: "2.4"
services:
  worker:
    image: lab
    runtime: cgpu
    network_mode: none
    environment:
      CGPU_MEM: 4GiB
      CGPU_WEIGHT: 2
    command: burn --forever
  plain:
    image: lab
    network_mode: none
    command: sleep 1000
YAML
expect compose up -d --scale worker=3 >"$scratch/up" 2>&1
wait_for 20 running worker 3
expect_equal "names" "$(cgpuctl list --json | jq -r '[.[].name] | sort[]' | xargs)" \
    "$(name_of worker 1) $(name_of worker 2) $(name_of worker 3)"
expect_equal "weights" "$(cgpuctl list --json | jq -c '[.[].gpus[0].weight]')" '[2,2,2]'
for index in 1 2 3; do
    wait_for 20 container_is_ready "$(name_of worker "$index")"
    expect_total $((4 << 30)) compose exec -T --index "$index" worker info
    expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' compose exec -T --index "$index" worker alloc --mib 4096
done
first=$(name_of worker 1)
find_pid "$first"
wait_for 20 more_than 0 "${pids[$first]}"
expect compose up -d --scale worker=1 >"$scratch/up" 2>&1
wait_for 20 running worker 1
expect compose restart -t 2 worker >"$scratch/up" 2>&1
wait_for 20 running worker 1
expect_total $((4 << 30)) compose exec -T worker info
expect_gone

echo "A request that is refused: compose shows why, and starts nothing."
sed -i 's/CGPU_MEM: .*/CGPU_MEM: 20GiB/' "$scratch/compose.yaml"
compose up -d worker >"$scratch/refused" 2>&1 && fail "20GiB were granted"
expect has "$scratch/refused" 'cgpu: .*20GiB .*16130MiB.* Try: '
sed -i 's/CGPU_MEM: .*/CGPU_MEM: ${GPU_MEM}/' "$scratch/compose.yaml"
compose up -d worker >"$scratch/refused" 2>&1 && fail "a variable that isn't set gave the whole node"
expect has "$scratch/refused" 'cgpu: CGPU_MEM="": it is empty. Try: .*CGPU_DISABLE=1'
expect_gone

echo "Without the runtime's name, and with devices as Docker's own way has it."
# dockerd offers GPUs if it finds NVIDIA's hook when it starts. It puts it into the container, before cgpu's.
printf '#!/bin/sh\nexec true\n' >/usr/bin/nvidia-container-runtime-hook
chmod 755 /usr/bin/nvidia-container-runtime-hook
expect cgpuctl runtime configure --default -q
expect stop_docker
expect start_docker
cat >"$scratch/compose.yaml" <<'YAML'
version: "3.8"
services:
  trainer:
    image: lab
    network_mode: none
    environment:
      CGPU_MEM: 4GiB
      CGPU_COMPUTE: 25%
    command: burn --forever
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              device_ids: ["1"]
              capabilities: [gpu]
YAML
expect compose up -d >"$scratch/up" 2>&1
wait_for 20 running trainer 1
wait_for 20 container_is_ready "$(name_of trainer 1)"
expect_total $((4 << 30)) compose exec -T trainer info
expect_equal "its GPU, and its share" "$(cgpuctl list --json | jq -c '.[0].gpus[0] | [.index, .asked_share]')" '[1,0.25]'
expect_equal "what it sees" "$(compose exec -T trainer sh -c 'echo $NVIDIA_VISIBLE_DEVICES' | tr -d '\r')" \
    "$(cgpuctl status --json | jq -r '.gpus[1].uuid')"
expect_gone

if [[ $(docker version -f '{{.Server.Version}}' | cut -d . -f 1) -lt 25 ]]; then
    echo "devices by CDI: NOT TRIED, this Docker doesn't know them"
    exit
fi
echo "A part as a device, placed by cgpud."
jq '.features.cdi = true' /etc/docker/daemon.json >"$scratch/daemon.json" || fail "no daemon.json"
expect cp "$scratch/daemon.json" /etc/docker/daemon.json
expect stop_docker
expect start_docker
expect cgpuctl cdi generate --output /etc/cdi/cgpu.json -q
cat >"$scratch/compose.yaml" <<'YAML'
services:
  trainer:
    image: lab
    network_mode: none
    command: burn --forever
    deploy:
      resources:
        reservations:
          devices:
            - driver: cdi
              device_ids: ["cgpu.org/gpu=quarter"]
              capabilities: [gpu]
YAML
expect compose up -d --scale trainer=2 >"$scratch/up" 2>&1
wait_for 20 running trainer 2
expect_equal "shares" "$(cgpuctl list --json | jq -c '[.[].gpus[0].asked_share]')" '[0.25,0.25]'
expect_total $((16130 / 4 << 20)) compose exec -T trainer info
expect_gone
