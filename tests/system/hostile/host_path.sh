#!/usr/bin/env bash
# A path that an image chooses is looked up in the container alone: what the host has at the same path isn't opened, neither by
# the hook nor by a cgpud that starts again, and the driver behind the front is the container's. Only where the container shows
# the host's own file at that path is it the host's.
. "$(dirname "${BASH_SOURCE[0]}")/../docker/lib.sh"
libraries=/usr/lib/x86_64-linux-gnu
driver=$(readlink -f $libraries/libcuda.so.1)
managed=(docker run --rm --runtime=cgpu -e "${four_of_15[0]}" -e "${four_of_15[1]}")
# Not the node's own.
expect mount -n -t tmpfs -o mode=755 cgpu-test /srv

# image NAME FOLDER: the lab's with a driver in it, at FOLDER/libcuda.so.1, that differs from the host's.
image() {
    local tree=$scratch/tree-$1
    mkdir -p "$tree$2" && cp "$driver" "$tree$2/libcuda.so.1" && echo "of the image" >>"$tree$2/libcuda.so.1" || fail "no tree"
    of_image=$(sha256sum <"$tree$2/libcuda.so.1" | cut -d ' ' -f 1)
    expect docker create --name making lab >/dev/null
    expect docker cp "$tree/." making:/
    expect docker commit making "$1" >/dev/null
    expect docker rm making >/dev/null
}
# A reader of the fifo lets its writer go on.
wait_at() { # FIFO
    rm -f "$scratch/woken"
    (exec 3>"$1" && : >"$scratch/woken") &
    writer=$!
}
still_waits() { [[ ! -e $scratch/woken ]] && kill -0 $writer; }

image shipped /srv/x
mkdir -p /srv/x && mkfifo /srv/x/libcuda.so.1 || fail "no fifo"
wait_at /srv/x/libcuda.so.1
expect "${managed[@]}" -d --name computing -e LD_LIBRARY_PATH=/srv/x shipped burn --forever >/dev/null
wait_for 20 container_is_ready computing
pid=$(docker inspect -f '{{.State.Pid}}' computing)
expect_equal "the driver behind the front" "$(drivers_in "$pid")" "$of_image"
expect still_waits
# The daemon that comes next looks for what it had.
expect lab-restart-cgpud --kill
expect cgpuctl list
expect still_waits
expect docker rm -f computing >/dev/null
kill $writer

# The same path leads to another library of the host, to a link, to a folder.
for other in "cp $driver /srv/x/libcuda.so.1" "ln -s $driver /srv/x/libcuda.so.1" 'mkdir /srv/x/libcuda.so.1'; do
    rm -rf /srv/x/libcuda.so.1 && $other || fail "$other"
    expect "${managed[@]}" -d --name computing -e LD_LIBRARY_PATH=/srv/x shipped burn --forever >/dev/null
    wait_for 20 container_is_ready computing
    expect_equal "the driver behind the front, $other" "$(drivers_in "$(docker inspect -f '{{.State.Pid}}' computing)")" "$of_image"
    expect docker rm -f computing >/dev/null
done

# A link of the image with a driver's name leads to what is none: nothing of it is covered, on either side.
expect docker run --name making lab sh -c "mkdir -p /opt/l /srv/x && cp $libraries/libc.so.6 /srv/x/queue && ln -s /srv/x/queue /opt/l/libcuda.so.1" >/dev/null
expect docker commit making linked >/dev/null
expect docker rm making >/dev/null
mkfifo /srv/x/queue || fail "no fifo"
wait_at /srv/x/queue
expect_equal "mounts over it" "$("${managed[@]}" -e LD_LIBRARY_PATH=/opt/l linked sh -c 'unset LD_LIBRARY_PATH; grep -c /srv/x /proc/self/mountinfo')" 0
expect still_waits
kill $writer

# The host's own file, shown at the same path: found again by a daemon that has lost its descriptors.
mkdir /srv/y && cp "$driver" /srv/y/libcuda.so.1 || fail "no volume"
expect "${managed[@]}" -d --name computing -v /srv/y:/srv/y -e LD_LIBRARY_PATH=/srv/y lab burn --forever >/dev/null
wait_for 20 container_is_ready computing
expect grep -q ' /srv/y/libcuda.so.1$' /run/cgpu/instances/*/driver
expect docker rm -f computing >/dev/null
wait_for 10 none_listed
