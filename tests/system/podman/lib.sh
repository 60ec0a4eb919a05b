# Sourced by the tests of containers under Podman. They run on the machine, with the lab's command as their arguments, and
# call themselves in a node: `in_node LAB…`.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../../.." && pwd)
packages=$top/build/podman # Debian's packages, downloaded once; they are unpacked in the node and never installed

# download_podman: with the packages that it depends on and that the machine lacks. Of two tests at once one downloads them.
download_podman() {
    mkdir -p "$packages/partial" && (flock 9 && download_podman_once) 9>"$packages/once"
}

download_podman_once() {
    local wanted=(podman runc crun busybox-static)
    local complete=$packages/complete-with-crun
    [[ ! -e $complete ]] || return 0
    local apt=(apt-get -q -y -o DPkg::Lock::Timeout=300 -o "Dir::Cache::archives=$packages/")
    local download=("${apt[@]}" install --download-only --no-install-recommends "${wanted[@]}")
    # A fresh machine has no lists yet, an old one may have stale ones.
    "${download[@]}" </dev/null >&2 || { "${apt[@]}" update && "${download[@]}"; } </dev/null >&2 || return
    : >"$complete"
}

# in_node LAB…: runs the calling script in a node with two GPUs, once Podman's packages are there.
in_node() {
    download_podman || fail "Podman's packages could not be downloaded"
    expect "$@" --gpus 'V100:16130MiB*2' -- bash "$0"
}

# make_podman: unpacks Podman in the node.
make_podman() {
    . "$top/tests/lab.d/docker/packages.sh"
    export TMPDIR=$CGPU_LAB/tmp
    mkdir -p "$TMPDIR" /etc/containers && unpack_packages "$packages" / && /sbin/ldconfig || return
    echo '{"default": [{"type": "insecureAcceptAnything"}]}' >/etc/containers/policy.json
}

# let_crun_work: crun refuses to work with both versions of cgroups if the second one has controllers. The node hides that one
# from all.
let_crun_work() {
    local unified=/sys/fs/cgroup/unified
    if [[ $(cat $unified/cgroup.controllers 2>/dev/null) ]]; then expect umount -n -l $unified; fi
}

# make_root FOLDER: a container's root with busybox and the test programs.
make_root() {
    . "$top/tests/lab.d/docker/image.sh"
    docker() { mkdir -p "$made_root" && tar -C "$made_root" -x; }
    made_root=$1
    import_image "$(dirname "$(readlink -f "$(command -v info)")")"
    unset -f docker
}

run_podman() {
    podman --root "$CGPU_LAB/podman" --runroot "$CGPU_LAB/podman-run" --storage-driver vfs --cgroup-manager cgroupfs \
        --events-backend none --runtime "${podman_runtime-/usr/bin/cgpu-runtime}" "$@"
}

# in_container OPTION… -- COMMAND…: in the root, with cgpu's runtime.
in_container() {
    local options=()
    while [[ $1 != -- ]]; do options+=("$1") && shift; done
    run_podman run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 "${options[@]}" \
        --rootfs "$made_root" "${@:2}"
}

# describe_gpus: the node has the device nodes of two GPUs, a CDI specification of them, as `nvidia-ctk cdi generate` writes it for
# the driver of the node, and runc as cgpu-runtime's next runtime: nothing but the specification brings the driver in.
describe_gpus() {
    local libraries minor node
    libraries=/usr/lib/$(uname -m)-linux-gnu
    cp "$top/tests/lab.d/docker/nvidia-container-runtime" "$CGPU_LAB/hooks"
    mkdir -p /etc/cgpu /etc/cdi
    ln -s /usr/sbin/runc /etc/cgpu/next-runtime
    for minor in 0 1 255; do
        node=/dev/nvidia$minor
        expect mknod "${node/255/ctl}" c 195 "$minor"
    done
    cat >/etc/cdi/nvidia.yaml <<TEXT
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits: {deviceNodes: [{path: /dev/nvidia0}]}
- name: "1"
  containerEdits: {deviceNodes: [{path: /dev/nvidia1}]}
- name: all
  containerEdits: {deviceNodes: [{path: /dev/nvidia0}, {path: /dev/nvidia1}]}
containerEdits:
  env: [NVIDIA_VISIBLE_DEVICES=void]
  deviceNodes: [{path: /dev/nvidiactl}]
  mounts:
  - {hostPath: /dev/simgpu, containerPath: /dev/simgpu, options: [bind, rw]}
  - {hostPath: $libraries/libcuda.so.580.65.06, containerPath: $libraries/libcuda.so.580.65.06, options: [bind, ro]}
  - {hostPath: $libraries/libnvidia-ml.so.580.65.06, containerPath: $libraries/libnvidia-ml.so.580.65.06, options: [bind, ro]}
  hooks:
  - {hookName: createContainer, path: $CGPU_LAB/hooks, args: [nvidia-cdi-hook, create-symlinks, $made_root]}
TEXT
}
uuid() { cgpuctl status --json | jq -r ".gpus[$1].uuid"; }
