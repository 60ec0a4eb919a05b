#!/usr/bin/env bash
# Configurations in which cgpu-runtime is called by the runtime that it executed: a container gets one part of a GPU, its hook is
# there once and last, and no chain of runtimes leads round in a circle for ever.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
asks=("${four_of_15[@]}")
next=$CGPU_LAB/next low_level=/etc/nvidia-container-runtime/low-level-runtime
mkdir -p /etc/cgpu /etc/nvidia-container-runtime

# next_is TEXT: the next runtime is a script.
next_is() {
    printf '#!/bin/bash\n%s\n' "$1" >"$next" && chmod +x "$next" && ln -sfn "$next" /etc/cgpu/next-runtime || fail "no next runtime"
}
bundle_of() { find /run -path "*/$(cat "$scratch/$1.id")/config.json" 2>/dev/null | head -n 1; }
# works WHAT [OPTION…]: a container starts, runs, is listed once, takes a process, and ends.
works() {
    expect timeout 60 docker run -d --name red --runtime=cgpu -e "${asks[0]}" -e "${asks[1]}" "${@:2}" lab burn --forever >"$scratch/red.id"
    wait_for 20 container_is_ready red
    expect_equal "instances, $1" "$(cgpuctl list -q | wc -l)" 1
    expect_equal "hooks of cgpu, $1" "$(jq -c '[.hooks[][] | select(.args[0] == "cgpu-runtime") | .args[2]]' "$(bundle_of red)")" \
        '["attach","mount"]'
    expect_equal "the last hook, $1" "$(jq -r '.hooks.createContainer[-1].args[2]' "$(bundle_of red)")" mount
    expect_total "$limit_of_four" timeout 20 docker exec red info
    expect timeout 60 docker rm -f red >/dev/null
    wait_for 10 none_listed
    expect_equal "programs of cgpu's that still run, $1" "$(pgrep -c cgpu-runtime)" 0
}

works "NVIDIA's runtime with its own low-level ones"
command -v cgpu-runtime >"$low_level"
works "NVIDIA's runtime with cgpu-runtime as the low-level one"
rm "$low_level"
next_is 'exec nvidia-container-runtime "$@"'
works "a script before NVIDIA's runtime"
# containerd starts runtimes with a LD_LIBRARY_PATH of its own: cgpu's programs load nothing from there, and the next runtime
# gets it.
mount -t tmpfs tmpfs /opt && mkdir -p /opt/containerd/lib && echo 'no library' >/opt/containerd/lib/libsystemd.so.0 || fail "no folder"
next_is "env >>$scratch/next.env; exec nvidia-container-runtime \"\$@\""
works "a containerd with libraries of its own"
umount /opt
expect_equal "calls with containerd's LD_LIBRARY_PATH" "$(grep -c ^LD_LIBRARY_PATH=/opt/containerd/lib "$scratch/next.env")" \
    "$(grep -c ^PWD= "$scratch/next.env")"
expect_equal "variables of cgpu-runtime's own that the next one gets" "$(grep -oE '^CGPU_RUNTIME_[A-Z_]+' "$scratch/next.env" | sort -u)" \
    CGPU_RUNTIME_EXECUTED
# By exec and by a process of its own; for every command of the engine.
volumes=(-v /dev/simgpu:/dev/simgpu)
for library in /usr/lib/x86_64-linux-gnu/lib{cuda,nvidia-ml}.so.1; do
    volumes+=(-v "$(readlink -f "$library"):$library:ro")
done
for way in 'exec cgpu-runtime "$@"' 'cgpu-runtime "$@"'; do
    next_is "$way"
    works "a next runtime that is $way" "${volumes[@]}"
done
# A low-level runtime that leads back is refused.
mkdir "$CGPU_LAB/back" && printf '#!/bin/bash\nexec cgpu-runtime "$@"\n' >"$CGPU_LAB/back/runc" && chmod +x "$CGPU_LAB/back/runc" ||
    fail "no runc"
expect_error 'cgpu: runc or crun calls cgpu-runtime, .*Try: ' timeout 20 env PATH="$CGPU_LAB/back:$PATH" cgpu-runtime --version
rm /etc/cgpu/next-runtime
