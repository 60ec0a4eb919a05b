# Sourced by the tests of rootless engines, in a booted node with --docker: alice, who has no rights but what polkit gives her, and
# the cases. The test defines `engine ARGUMENT…` (her engine's command line) and $options (of its `run`), before it calls them.
. "$(dirname "${BASH_SOURCE[0]}")/../docker/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../bus/polkit_lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../escape/found.sh"
setpriv --reuid=65534 --clear-groups unshare --user true 2>/dev/null || skip "this kernel makes no user namespaces for users"
chmod 755 "$scratch"
expect useradd --create-home --shell /bin/bash alice
expect loginctl enable-linger alice
runtime=/run/user/$(id -u alice)
wait_for 20 test -S "$runtime/bus"
first_uid=$(sed -n 's/^alice:\([0-9]*\):.*/\1/p' /etc/subuid) # of the container's users other than root
mkdir -p /etc/nvidia-container-runtime $rules
docker save lab >"$scratch/lab.tar" && chmod 644 "$scratch/lab.tar"

# as_alice COMMAND…
as_alice() { su --login alice --command "$(printf '%q ' env "XDG_RUNTIME_DIR=$runtime" "$@")"; }
run() { engine run --network none "${options[@]}" -e CGPU_MEM=1GiB "$@"; }
# container NAME OPTION… -- COMMAND…
container() {
    local name=$1 own=()
    shift
    while [[ $1 != -- ]]; do own+=("$1") && shift; done
    run -d --name "$name" "${own[@]}" lab "${@:2}" >"$scratch/$name.id" 2>"$scratch/$name.err" ||
        fail "container $name: $(cat "$scratch/$name.err")"
    pids[$name]=$(engine inspect -f '{{.State.Pid}}' "$name")
}
is_up() { engine logs "$1" 2>/dev/null | grep -q '^ready'; }
uid_of() { stat -c %u "/proc/${pids[$1]}"; }

rootless_cases() {
    local mode name
    echo "Without polkit's permission the container is refused, and the user reads why."
    wait_for 20 polkit_answers
    expect_error "may not.* \\(polkit's org.cgpu1.run\\)" run --rm lab true
    allow_users org.cgpu1.run alice
    wait_for 20 quietly run --rm lab true

    for mode in legacy cdi; do
        echo "NVIDIA's runtime in its mode $mode: as root of the container, and as another user"
        echo "$mode" >/etc/nvidia-container-runtime/mode
        container root -- burn --forever
        expect_equal "uid on the host" "$(uid_of root)" "$(id -u alice)"
        container user --user 1000:1000 -- burn --forever
        expect_equal "uid on the host" "$(uid_of user)" $((first_uid + 999))
        for name in root user; do
            wait_for 20 is_up "$name"
            expect_total $((1 << 30)) engine exec "$name" info
            computes "$name"
            expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' engine exec "$name" alloc --mib 1025
        done
        expect_total $((1 << 30)) engine exec --user 1234:1234 root info
        expect systemctl restart cgpud
        for name in root user; do computes "$name"; done
        expect_total $((1 << 30)) engine exec root info
        expect engine rm -f root user >/dev/null
        wait_for 10 none_listed
    done

    echo "Memory that another user takes without the module is found."
    policy report
    container escapes --user 1000:1000 -- escape --mib 5000
    wait_for 30 was_found "${pids[escapes]}" "$unexplained"
    expect engine rm -f escapes >/dev/null
    wait_for 10 none_listed
    wait_for 10 nothing_held

    echo "Its user stops it, also what runs as another id of the user's range: the namespace is the user's own."
    container own -- alloc --mib 100 --hold
    container other --user 1000:1000 -- alloc --mib 100 --hold
    for name in own other; do wait_for 20 is_up "$name"; done
    expect as_alice cgpuctl stop own -q
    expect_equal "listed" "$(cgpuctl list --json | jq -c '[.[].name]')" '["other"]'
    expect as_alice cgpuctl stop other -q
    wait_for 10 none_listed
    expect engine rm -f own other >/dev/null
    wait_for 10 nothing_held
}
