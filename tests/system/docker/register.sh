#!/usr/bin/env bash
# cgpuctl runtime configure with a running dockerd: it takes effect without a restart, and is undone.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

docker_says() { # TEXT: a line of docker info
    docker info 2>/dev/null | grep -qE "^ *$1\$"
}
as_it_was=$(cat /etc/docker/daemon.json)
process=$(docker_pid)

expect cgpuctl runtime configure --as nvidia --default
wait_for 10 docker_says 'Default Runtime: cgpu'
expect_total "$limit_of_four" docker run --rm --runtime=nvidia -e "${four_of_15[0]}" -e "${four_of_15[1]}" lab info
expect_total "$limit_of_four" docker run --rm -e "${four_of_15[0]}" -e "${four_of_15[1]}" lab info

expect cgpuctl runtime configure --remove
wait_for 10 docker_says 'Default Runtime: runc'
wait_for 10 docker_says 'Runtimes: .*runc.*'
expect_error 'cgpu' docker run --rm --runtime=cgpu lab true
expect_equal "undone twice" "$(cgpuctl runtime configure --remove)" \
    '/etc/docker/daemon.json: the runtime cgpu is not in it; there is nothing to undo.'

expect cgpuctl runtime configure
wait_for 10 docker_says 'Runtimes:.* cgpu.*'
expect_equal "daemon.json" "$(jq -S 'del(.["default-runtime"])' /etc/docker/daemon.json)" "$(jq -S . <<<"$as_it_was")"
expect_equal "dockerd's pid" "$(docker_pid)" "$process"
