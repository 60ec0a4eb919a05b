# Sourced by the container suite, in a node, after ../podman/lib.sh: the same words for Docker and for Podman, with either
# low-level runtime.
. "$CGPU_LAB/cgpud.sh"
. "$CGPU_LAB/docker.sh"

engine='' # docker or podman

# use ENGINE RUNTIME MODE: the engine of the words below; which low-level runtime NVIDIA's calls, and in which mode it is.
use() {
    engine=$1
    mkdir -p /etc/nvidia-container-runtime
    echo "$2" >/etc/nvidia-container-runtime/low-level-runtime
    echo "$3" >/etc/nvidia-container-runtime/mode
}

# The driver without NVIDIA's runtime.
driver_volumes=(-v /dev/simgpu:/dev/simgpu)
for library in /usr/lib/x86_64-linux-gnu/lib{cuda,nvidia-ml}.so.1; do
    driver_volumes+=(-v "$(readlink -f "$library"):$library:ro")
done
# next_is_low_level: cgpu's runtime executes $runtime, and not NVIDIA's, until the link is removed.
next_is_low_level() {
    mkdir -p /etc/cgpu && ln -s "$(command -v "$runtime")" /etc/cgpu/next-runtime || fail "no link"
}

# engine ARGUMENT…: the engine's command line.
engine() {
    case $engine in
        docker) docker "$@" ;;
        podman) run_podman "$@" ;;
    esac
}

# managed VERB OPTION…: `run` or `create` with cgpu's runtime, no network, and the requests of $asks.
managed() {
    local verb=$1 options=(--network none) pair
    shift
    case $engine in
        docker) options+=(--runtime=cgpu) ;;
        # A node may not raise its limits to Podman's defaults.
        podman) options+=(--ulimit nofile=1024:1024 --ulimit nproc=1000:1000) ;;
    esac
    for pair in "${asks[@]}"; do options+=(-e "$pair"); done
    engine "$verb" "${options[@]}" "$@"
}

# once OPTION… -- COMMAND…: in a container of its own, in the foreground.
once() {
    local options=()
    while [[ $1 != -- ]]; do options+=("$1") && shift; done
    managed run --rm "${options[@]}" lab "${@:2}"
}

# container NAME [OPTION…] -- COMMAND…: in the background.
container() {
    local name=$1 options=()
    shift
    while [[ $1 != -- ]]; do options+=("$1") && shift; done
    managed run -d --name "$name" "${options[@]}" lab "${@:2}" >"$scratch/$name.id" 2>"$scratch/$name.err" ||
        fail "container $name: $(cat "$scratch/$name.err")"
    find_pid "$name"
}

find_pid() {
    pids[$1]=$(engine inspect -f '{{.State.Pid}}' "$1")
}

# computing NAME…: these containers, each with a program that computes until it is ended.
computing() {
    local name
    for name in "$@"; do container "$name" -- burn --forever; done
    for name in "$@"; do wait_for 20 container_is_ready "$name"; done
}

container_is_ready() {
    engine logs "$1" 2>/dev/null | grep -q '^ready'
}

# expect_total BYTES COMMAND…: the output of `info` has this total in all four places, and no other.
expect_total() {
    local wanted=$1 totals
    shift
    "$@" >"$scratch/info" 2>"$scratch/info.err" || fail "$*: $(cat "$scratch/info.err")"
    totals=$(grep -oE '^device\.0\.[a-z0-9_]*total(_mem)? .*' "$scratch/info")
    expect_equal "number of totals of $*" "$(wc -l <<<"$totals")" 4
    expect_equal "total of $*" "$(sed 's/.* //' <<<"$totals" | sort -u)" "$wanted"
}

# gone NAME…: removed by force, and nothing of them is left at cgpud or on the GPU.
gone() {
    wait_for 10 removed "$@"
    wait_for 10 none_listed
    wait_for 10 nothing_held
}
# Podman 4.3 sometimes finds a mount of a container that has just ended busy, and removes it at the next try.
removed() {
    case $engine in
        docker) docker rm -f "$@" ;;
        podman) run_podman rm -f --ignore "$@" ;;
    esac >/dev/null 2>"$scratch/removed.err"
}
