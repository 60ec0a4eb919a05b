# Rootless Docker of a user whom polkit authorizes to run jobs: dockerd and its containers are in a user namespace of the user's,
# made by rootlesskit. Containers get their limit, as root of the container and as another user, also over a restart of cgpud,
# and are found if they take memory without the module.
. "$(dirname "${BASH_SOURCE[0]}")/rootless_lib.sh"
command -v rootlesskit >/dev/null || skip "there is no rootlesskit here"

# rootlesskit makes no namespace of pids here, so docker's pids are the host's.
as_user_of_docker() { as_alice "DOCKER_HOST=unix://$runtime/docker.sock" "PATH=$PATH" "$@"; }
engine() { as_user_of_docker docker "$@"; }
options=(--runtime cgpu)

expect as_alice mkdir -p /home/alice/.config/docker
expect as_alice cgpuctl runtime configure --file /home/alice/.config/docker/daemon.json --no-reload -q
# As dockerd-rootless.sh does it, with the host's network, because no container needs one.
# shellcheck disable=SC2016 # it is the other shell's
as_user_of_docker rootlesskit --state-dir="$runtime/rootlesskit" --net=host --copy-up=/etc --copy-up=/run sh -c \
    'rm -f /run/docker /run/containerd /run/xtables.lock; exec dockerd --rootless -H "$DOCKER_HOST" --data-root="$HOME/docker" \
    --exec-root="$XDG_RUNTIME_DIR/docker" --pidfile="$XDG_RUNTIME_DIR/docker.pid" --iptables=false --ip6tables=false --bridge=none \
    --userland-proxy=false --storage-driver=vfs' >"$scratch/dockerd.out" 2>&1 &
wait_for 40 quietly engine info
expect engine info --format '{{.SecurityOptions}}' >"$scratch/options"
expect has "$scratch/options" 'name=rootless'
expect engine load -q -i "$scratch/lab.tar" >/dev/null
rootless_cases
