# A private dockerd in the node, with the runtime registered. Sourced in the node by init and the tests.
export DOCKER_HOST=unix://${CGPU_LAB:?}/docker.sock

# The node's cgroups lie in a folder of their own, so that they can be removed with it.
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

docker_answers() {
    docker version >/dev/null 2>&1
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

# import_image PROGRAMS: the image `lab`: busybox, the C library and the test programs, on a root as Debian's.
import_image() {
    local root=$CGPU_LAB/image library program
    mkdir -p "$root"/{bin,dev,etc,proc,root,run,sys,tmp,usr/bin,usr/lib/x86_64-linux-gnu,usr/local/bin,var,lib64} || return
    ln -s usr/lib "$root/lib"
    ln -s /run "$root/var/run"
    cp "$(command -v busybox)" "$root/bin/" && "$root/bin/busybox" --install -s "$root/bin" || return
    echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
    for program in "$1"/*; do
        [[ -f $program && -x $program && $program != *.so* ]] || continue
        cp "$program" "$root/usr/local/bin/" || return
        ldd "$program"
    done | sed -nE 's,.*[[:blank:]](/[^ ]+) \(.*,\1,p' | sort -u | while read -r library; do
        # The driver comes from the runtime, as in any image.
        [[ $library == */libcuda.so* || $library == */libnvidia-ml.so* ]] && continue
        case $library in
            /lib64/*) cp -L "$library" "$root/lib64/" ;;
            *) cp -L "$library" "$root/usr/lib/x86_64-linux-gnu/" ;;
        esac
    done
    # Libraries that are part of libc nowadays, and that programs and modules built on older systems still name.
    for library in libdl.so.2 libpthread.so.0 librt.so.1; do
        cp -L "/usr/lib/x86_64-linux-gnu/$library" "$root/usr/lib/x86_64-linux-gnu/" || return
    done
    # busybox --install -s links to where it was called.
    find "$root/bin" -type l -exec ln -sfn busybox {} \;
    tar -C "$root" -c . | docker import --change 'CMD ["/bin/sh"]' - lab >/dev/null && rm -r "$root"
}

# make_engine PACKAGES PROGRAMS: all of the above, once, by init.
make_engine() {
    local place
    for place in /var/lib/docker /var/lib/containerd /run/docker /run/containerd; do
        own_folder "$place" || return
    done
    unpack_engine "$1" && cp "$here/docker/nvidia-container-runtime" /usr/bin/ && configure_docker &&
        cgpuctl runtime configure >>"$CGPU_LAB/docker.log" 2>&1 && start_docker && import_image "$2" 2>>"$CGPU_LAB/docker.log"
}
