# The private dockerd of a node without systemd: cgroups as the machine has them, made by Docker itself. The same functions as
# in docker_by_systemd.sh; sourced as $CGPU_LAB/docker.sh, in the node.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/docker.sh"
export DOCKER_HOST=unix://${CGPU_LAB:?}/docker.sock

# The node's cgroups are in a folder of their own, so that they can be removed with the node.
docker_cgroup=cgpu-docker-$(stat -L -c %i /proc/1/ns/pid)

# remove_cgroups PATTERN: those without processes, in every hierarchy.
remove_cgroups() {
    local folder
    while read -r folder; do
        find "$folder" -depth -type d -exec rmdir {} \; 2>/dev/null
    done < <(find /sys/fs/cgroup -maxdepth 2 -type d -name "$1")
    return 0
}

configure_docker() {
    # Of labs that were killed.
    remove_cgroups 'cgpu-docker-*'
    mkdir -p /etc/docker || return
    cat >/etc/docker/daemon.json <<TEXT
{
  "data-root": "/var/lib/docker",
  "exec-root": "/run/docker",
  "pidfile": "$CGPU_LAB/docker.pid",
  "hosts": ["$DOCKER_HOST"],
  "storage-driver": "overlay2",
  "cgroup-parent": "/$docker_cgroup",
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
        setsid dockerd >>"$CGPU_LAB/docker.log" 2>&1 </dev/null &
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
    remove_cgroups "$docker_cgroup"
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

# make_engine PACKAGES LAB.D: the engine from this folder of packages on, once, by init.
make_engine() {
    local place
    for place in /var/lib/docker /var/lib/containerd /run/docker /run/containerd; do
        own_folder "$place" || return
    done
    unpack_engine "$1" && cp "$2/docker/nvidia-container-runtime" /usr/bin/ && configure_docker && start_docker
}
