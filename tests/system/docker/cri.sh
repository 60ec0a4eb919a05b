#!/usr/bin/env bash
# Pods of containerd's CRI, as a kubelet or crictl makes them: with the runtime class `cgpu`, as `cgpuctl runtime configure --for
# containerd` registers it, each container of a pod has its own part of the GPU, and is named as Kubernetes names it.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
command -v containerd >/dev/null || skip "containerd is not here"
command -v curl >/dev/null || skip "there is no curl to speak gRPC with"
folder=$CGPU_LAB/cri
socket=$folder/containerd.sock
libraries=/usr/lib/$(uname -m)-linux-gnu
mkdir -p "$folder" /etc/containerd /etc/cgpu
in_namespace() { ctr -a "$socket" -n k8s.io "$@"; }

# --- a containerd of its own: the private dockerd's has no CRI. No network (there are no CNI plugins), no cgroups.
cat >/etc/containerd/config.toml <<TOML
version = 2
root = "$folder/root"
state = "$folder/state"
[grpc]
  address = "$socket"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/library/pause:latest"
  disable_cgroup = true
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
TOML
expect cgpuctl runtime configure --for containerd >/dev/null
# The driver comes by mounts here: NVIDIA's runtime isn't what is tested.
expect ln -s "$(PATH=$PATH:/usr/sbin command -v runc)" /etc/cgpu/next-runtime
containerd -c /etc/containerd/config.toml >"$folder/log" 2>&1 &
containerd=$!
trap 'status=$?; kill $containerd 2>/dev/null; finish $status' EXIT
serves() { cri RuntimeService/Version '{"1": "v1"}' >/dev/null 2>&1; }
# cri SERVICE/METHOD REQUEST: the fields are those of Kubernetes' api.proto, by number.
cri() { python3 -B "$here/cri.py" "$socket" "$@"; }
wait_for 20 serves
expect docker save lab -o "$scratch/lab.tar"
printf 'FROM lab\nCMD ["sleep", "3600"]\n' | docker build -q -t pause - >/dev/null 2>&1 || fail "no image for sandboxes"
expect docker save pause -o "$scratch/pause.tar"
for image in lab pause; do expect in_namespace images import "$scratch/$image.tar" >/dev/null; done

# words WORD…: a list in JSON. jq would take `--forever` for an option of its own.
words() { printf '%s\n' "$@" | jq -R . | jq -s .; }
# first_field: of an answer.
first_field() { sed -n 's/^1 //p' | head -n 1; }
# Metadata of the pod, its folder for logs, and the host's network.
pod='{"1": {"1": "job", "2": "uid-1", "3": "default"}, "3": "/tmp", "8": {"2": {"1": {"1": 2}}}}'
mounts=$(for file in /dev/simgpu "$libraries"/lib{cuda,nvidia-ml}.so.1; do
    jq -n --arg inside "$file" --arg host "$(readlink -f "$file")" '{"1": $inside, "2": $host}'
done | jq -s .)
# create NAME VARIABLE VALUE COMMAND…: a container in the pod; prints its id.
create() {
    local config
    config=$(jq -n --arg name "$1" --arg variable "$2" --arg value "$3" --argjson command "$(words "${@:4}")" \
        --argjson mounts "$mounts" '{"1": {"1": $name}, "2": {"1": "docker.io/library/lab:latest"}, "3": $command,
        "6": [{"1": $variable, "2": $value}], "7": $mounts, "11": ($name + ".log"), "15": {"2": {"3": {"1": 2}}}}')
    cri RuntimeService/CreateContainer "{\"1\": \"$sandbox\", \"2\": $config, \"3\": $pod}" | first_field
}
start() { cri RuntimeService/StartContainer "{\"1\": \"$1\"}"; }
run_in() { # ID COMMAND…: what it prints, without the answer's number before it
    cri RuntimeService/ExecSync "{\"1\": \"$1\", \"2\": $(words "${@:2}"), \"3\": 20}" | sed '1s/^1 //'
}
shown() { cgpuctl list --json | jq -c 'map([.name, .state, (.gpus[0].memory_limit_bytes / 1073741824)]) | sort'; }

# --- a pod with two containers
sandbox=$(cri RuntimeService/RunPodSandbox "{\"1\": $pod, \"2\": \"cgpu\"}" | first_field)
[[ $sandbox ]] || fail "no sandbox: $(tail -n 3 "$folder/log")"
expect_equal "the sandbox is no instance" "$(cgpuctl list -q)" ""
worker=$(create worker CGPU_MEM 4GiB burn --forever)
helper=$(create helper CGPU_MEM 2GiB alloc --mib 1000 --hold)
expect start "$worker"
expect start "$helper"
both_run() { [[ $(shown) == '[["default/job/helper","running",2],["default/job/worker","running",4]]' ]]; }
wait_for 20 both_run
expect_equal "image" "$(cgpuctl list --json | jq -r '[.[].image] | unique[]')" docker.io/library/lab:latest
expect_total $((4 << 30)) run_in "$worker" info
expect_total $((2 << 30)) run_in "$helper" env -i /usr/local/bin/info
pids[worker]=$(cgpuctl show default/job/worker --json | jq .pid)
wait_for 20 more_than 0 "${pids[worker]}"
run_in "$helper" alloc --mib 1100 >"$scratch/alloc" 2>&1
expect has "$scratch/alloc" 'CUDA_ERROR_OUT_OF_MEMORY'

# --- who asks for too much is told why, and the pod goes on
greedy=$(create greedy CGPU_MEM 40GiB burn --forever)
expect_error 'cgpu: 40GiB .*16130MiB.* Try: ' start "$greedy"
expect both_run

# --- a container that is stopped, and the pod's end
expect cri RuntimeService/StopContainer "{\"1\": \"$helper\", \"2\": 1}"
only_worker() { [[ $(shown) == '[["default/job/worker","running",4]]' ]]; }
wait_for 20 only_worker
expect cri RuntimeService/StopPodSandbox "{\"1\": \"$sandbox\"}"
expect cri RuntimeService/RemovePodSandbox "{\"1\": \"$sandbox\"}"
wait_for 10 none_listed
wait_for 10 nothing_held

# --- a pod without the runtime class
sandbox=$(cri RuntimeService/RunPodSandbox "{\"1\": $pod}" | first_field)
[[ $sandbox ]] || fail "no sandbox without a runtime class: $(tail -n 3 "$folder/log")"
expect cri RuntimeService/StopPodSandbox "{\"1\": \"$sandbox\"}"
expect cri RuntimeService/RemovePodSandbox "{\"1\": \"$sandbox\"}"
