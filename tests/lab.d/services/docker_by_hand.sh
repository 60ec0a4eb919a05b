# The private dockerd of a node without systemd: cgroups as the machine has them, made by Docker itself. The same functions as
# in docker_by_systemd.sh; sourced as $CGPU_LAB/docker.sh, in the node.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/docker.sh"
export DOCKER_HOST=unix://${CGPU_LAB:?}/docker.sock

configure_docker() {
    mkdir -p /etc/docker || return
    cat >/etc/docker/daemon.json <<TEXT
{
  "data-root": "/var/lib/docker",
  "exec-root": "/run/docker",
  "pidfile": "$CGPU_LAB/docker.pid",
  "hosts": ["$DOCKER_HOST"],
  "storage-driver": "overlay2",
  "cgroup-parent": "/$(<"$CGPU_LAB/cgroup")",
  "exec-opts": ["native.cgroupdriver=cgroupfs"],
  "bridge": "none",
  "iptables": false,
  "ip6tables": false,
  "ip-forward": false,
  "live-restore": true
}
TEXT
}

# start_docker: ready when it answers.
start_docker() {
    env -i --default-signal=INT,QUIT PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        "${own_session[@]}" dockerd >>"$CGPU_LAB/docker.log" 2>&1 </dev/null &
    echo $! >"$CGPU_LAB/dockerd.pid"
    wait_until 30 docker_answers
}

stop_docker() {
    local pid
    pid=$(cat "$CGPU_LAB/dockerd.pid" 2>/dev/null) || return 0
    # shellcheck disable=SC2046 # ids are words
    docker rm -f $(docker ps -aq) >/dev/null 2>&1
    kill -TERM "$pid" 2>/dev/null
    wait_until 20 test ! -d "/proc/$pid"
    return 0
}

docker_pid() {
    cat "$CGPU_LAB/docker.pid"
}

# abandon_shims: dockerd and containerd are not restarted.
abandon_shims() {
    docker_is_gone() { ! docker_answers; }
    wait_until 10 docker_is_gone
}

# make_engine LAB.D IMAGE: the engine's folders, the image as it is kept, configuration and dockerd, once, by init.
make_engine() {
    local place
    for place in /var/lib/docker /var/lib/containerd /run/docker /run/containerd; do
        own_folder "$place" || return
    done
    take_image "$2" /var/lib/docker && /sbin/ldconfig && cp "$1/docker/nvidia-container-runtime" /usr/bin/ && configure_docker && start_docker
}
