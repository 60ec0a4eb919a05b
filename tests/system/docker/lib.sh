# Sourced by the tests of containers, in a node with --docker (with or without --systemd): words for containers beside those for jobs in ../lib.sh.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
. "$CGPU_LAB/cgpud.sh"
. "$CGPU_LAB/docker.sh"

image=lab # of the containers that are started

# container NAME [OPTION…] -- COMMAND…: in the background, with cgpu's runtime; requests are its environment.
container() {
    local name=$1 options=() pair
    shift
    while [[ $1 != -- ]]; do options+=("$1") && shift; done
    for pair in "${asks[@]}"; do options+=(-e "$pair"); done
    docker run -d --name "$name" --runtime=cgpu "${options[@]}" "$image" "${@:2}" >"$scratch/$name.id" 2>"$scratch/$name.err" ||
        fail "container $name: $(cat "$scratch/$name.err")"
    find_pid "$name"
}

find_pid() {
    pids[$1]=$(docker inspect -f '{{.State.Pid}}' "$1")
}

# in_container OPTION… -- COMMAND…: runs it in a container of its own with cgpu's runtime, in the foreground.
in_container() {
    local options=() pair
    while [[ $1 != -- ]]; do options+=("$1") && shift; done
    for pair in "${asks[@]}"; do options+=(-e "$pair"); done
    docker run --rm --runtime=cgpu "${options[@]}" "$image" "${@:2}"
}

container_is_ready() {
    docker logs "$1" 2>/dev/null | grep -q '^ready'
}

# expect_total BYTES COMMAND…: the output of `info` has this total in all four places, and no other.
expect_total() {
    local wanted=$1 totals
    shift
    "$@" >"$scratch/info" 2>"$scratch/info.err" || fail "$*: $(cat "$scratch/info.err")"
    totals=$(grep -oE '^device\.0\.[a-z0-9_]*total(_mem)? .*' "$scratch/info")
    expect_equal "number of totals" "$(wc -l <<<"$totals")" 4
    expect_equal "total" "$(sed 's/.* //' <<<"$totals" | sort -u)" "$wanted"
}

# inside NAME COMMAND…: in the container's namespaces, without Docker.
inside() {
    nsenter --mount --pid --root --wd --target "${pids[$1]}" "${@:2}"
}
