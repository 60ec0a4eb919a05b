# Rootless Docker of a user whom polkit authorizes to run jobs: dockerd and its containers are in a user namespace of the user's,
# made by rootlesskit. Containers get their limit, as root of the container and as another user, also over a restart of cgpud,
# and are found if they take memory without the module.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../docker/lib.sh"
. "$here/../bus/polkit_lib.sh"
. "$here/../escape/found.sh"
setpriv --reuid=65534 --clear-groups unshare --user true 2>/dev/null || skip "this kernel makes no user namespaces for users"
command -v rootlesskit >/dev/null || skip "there is no rootlesskit here"
chmod 755 "$scratch"
expect useradd --create-home --shell /bin/bash alice
expect loginctl enable-linger alice
runtime=/run/user/$(id -u alice)
wait_for 20 test -S "$runtime/bus"
first_uid=$(sed -n 's/^alice:\([0-9]*\):.*/\1/p' /etc/subuid) # of the container's users other than root
docker save lab >"$scratch/lab.tar" && chmod 644 "$scratch/lab.tar"

as_alice() {
    su --login alice --command "$(printf '%q ' env "XDG_RUNTIME_DIR=$runtime" "DOCKER_HOST=unix://$runtime/docker.sock" "PATH=$PATH" "$@")"
}
docker() { as_alice docker "$@"; }
run() { docker run --network none --runtime cgpu -e CGPU_MEM=1GiB "$@"; }
# container NAME OPTION… -- COMMAND…
container() {
    local name=$1 options=()
    shift
    while [[ $1 != -- ]]; do options+=("$1") && shift; done
    run -d --name "$name" "${options[@]}" lab "${@:2}" >"$scratch/$name.id" 2>"$scratch/$name.err" ||
        fail "container $name: $(cat "$scratch/$name.err")"
    find_pid "$name"
}
# rootlesskit makes no namespace of pids here, so docker's pids are the host's.
uid_of() { stat -c %u "/proc/${pids[$1]}"; }

expect as_alice mkdir -p /home/alice/.config/docker
expect as_alice cgpuctl runtime configure --file /home/alice/.config/docker/daemon.json --no-reload -q
# As dockerd-rootless.sh does it, with the host's network, because no container needs one.
mkdir -p /etc/nvidia-container-runtime $rules
# shellcheck disable=SC2016 # it is the other shell's
as_alice rootlesskit --state-dir="$runtime/rootlesskit" --net=host --copy-up=/etc --copy-up=/run sh -c \
    'rm -f /run/docker /run/containerd /run/xtables.lock; exec dockerd --rootless -H "$DOCKER_HOST" --data-root="$HOME/docker" \
    --exec-root="$XDG_RUNTIME_DIR/docker" --pidfile="$XDG_RUNTIME_DIR/docker.pid" --iptables=false --ip6tables=false --bridge=none \
    --userland-proxy=false --storage-driver=vfs' >"$scratch/dockerd.out" 2>&1 &
wait_for 40 quietly docker info
expect docker load -q -i "$scratch/lab.tar" >/dev/null
expect docker info --format '{{.SecurityOptions}}' >"$scratch/options"
expect has "$scratch/options" 'name=rootless'

echo "Without polkit's permission the container is refused, and the user reads why."
wait_for 20 polkit_answers
expect_error 'polkit (wants a password for|does not allow) org.cgpu1.run' run --rm lab true
cat >$rules/10-cgpu-test.rules <<'TEXT'
polkit.addRule(function(action, subject) {
    if (action.id == "org.cgpu1.run" && subject.user == "alice") return polkit.Result.YES;
});
TEXT
wait_for 20 quietly run --rm lab true

for mode in legacy cdi; do
    echo "NVIDIA's runtime in its mode $mode: as root of the container, and as another user"
    echo "$mode" >/etc/nvidia-container-runtime/mode
    container root -- burn --forever
    expect_equal "uid on the host" "$(uid_of root)" "$(id -u alice)"
    container user --user 1000:1000 -- burn --forever
    expect_equal "uid on the host" "$(uid_of user)" $((first_uid + 999))
    for name in root user; do
        wait_for 20 container_is_ready "$name"
        expect_total $((1 << 30)) docker exec "$name" info
        computes "$name"
        expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' docker exec "$name" alloc --mib 1025
    done
    expect_total $((1 << 30)) docker exec --user 1234:1234 root info
    expect systemctl restart cgpud
    for name in root user; do computes "$name"; done
    expect_total $((1 << 30)) docker exec root info
    expect docker rm -f root user >/dev/null
    wait_for 10 none_listed
done

echo "Memory that another user takes without the module is found."
policy report
container escapes --user 1000:1000 -- escape --mib 5000
wait_for 30 was_found "${pids[escapes]}" "$unexplained"
expect docker rm -f escapes >/dev/null
wait_for 10 none_listed
wait_for 10 nothing_held
