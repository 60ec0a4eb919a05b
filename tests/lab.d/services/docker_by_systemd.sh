# The dockerd of a node with systemd, Debian's own service: cgroup v2, made by systemd. The same functions as in
# docker_by_hand.sh; sourced as $CGPU_LAB/docker.sh, in the node.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/docker.sh"
unset DOCKER_HOST

# start_docker: ready when it answers.
start_docker() {
    systemctl reset-failed docker docker.socket containerd 2>/dev/null
    systemctl start docker && wait_until 30 docker_answers
}

docker_pid() {
    systemctl show docker --property MainPID --value
}

# abandon_shims: systemd doesn't start dockerd and containerd again; containers run on.
abandon_shims() {
    systemctl stop docker.socket docker containerd
}

# write_docker_configuration ROOT: before it boots. The node has no network, so no bridge and no filters either.
write_docker_configuration() {
    mkdir -p "$1/etc/docker" && cat >"$1/etc/docker/daemon.json" <<'TEXT'
{
  "storage-driver": "overlay2",
  "bridge": "none",
  "iptables": false,
  "ip6tables": false,
  "live-restore": true
}
TEXT
}
