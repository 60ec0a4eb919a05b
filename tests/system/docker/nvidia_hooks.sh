#!/usr/bin/env bash
# NVIDIA's own hooks as the real ones are: they fail where an image's /run leads out of it, leave folders and mounts in a /run that
# is shared with the host, and make NVIDIA_VISIBLE_DEVICES `void`. The limit holds, and of a container that doesn't start nothing
# of cgpu's is left.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
settings=/etc/nvidia-container-runtime
mkdir -p "$settings"
asks=(CGPU_MEM=1GiB)
gib=$((1 << 30))
mode() { echo "$1" >"$settings/mode"; }
# What a failed start could leave on the host. Docker's own mounts come and go.
host() {
    grep -vE ' /(var/lib|run)/(docker|containerd)/' /proc/self/mountinfo | sed 's/^[0-9]* [0-9]* //' | sort
    ls /run/cgpu/instances
}

# links_to TARGET NAME: the lab's image with a /run that is a link.
links_to() {
    mkdir -p "$scratch/$2/var/run" && ln -s "$1" "$scratch/$2/run" || fail "no tree of $2"
    tar -C "$scratch/$2" -cf "$scratch/$2.tar" . && docker export "$(docker create lab)" >"$scratch/lab.tar" &&
        mkdir "$scratch/$2.root" && tar -C "$scratch/$2.root" -xf "$scratch/lab.tar" && rm -rf "$scratch/$2.root/run" &&
        tar -C "$scratch/$2.root" -xf "$scratch/$2.tar" && tar -C "$scratch/$2.root" -c . | docker import - "$2" >/dev/null ||
        fail "no image $2"
    rm -rf "$scratch/$2" "$scratch/$2.root" "$scratch/$2.tar" "$scratch/lab.tar"
}
links_to var/run run_is_a_link
links_to /var/run run_is_an_absolute_link

echo "An image whose /run is a link, without and with NVIDIA's hook that needs it."
for m in legacy cdi; do
    mode "$m"
    for image in run_is_a_link run_is_an_absolute_link; do
        expect_total $gib in_container -- info
        container linked -- burn --forever
        wait_for 20 container_is_ready linked
        expect_total $gib docker exec linked info
        expect docker rm -f linked >/dev/null
        wait_for 10 none_listed
    done
done
mode cdi
echo 'ModifyDeviceFiles: 1' >"$settings/params"
image=run_is_a_link
expect_total $gib in_container -- info
expect_equal "what NVIDIA's hook has shown" "$(in_container -- cat /proc/version)" 'ModifyDeviceFiles: 0'
image=run_is_an_absolute_link
host >"$scratch/before"
expect_error 'path escapes from parent' docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=all $image true
expect_error 'path escapes from parent' in_container -- true
wait_for 10 none_listed
expect diff "$scratch/before" <(host)
image=lab

echo "NVIDIA's hook leaves a folder and a mount in a /run that is shared with the host."
run=$scratch/run
mkdir "$run" && mount -n -t tmpfs run "$run" && mount -n --make-shared "$run" || skip "no mounts can be made here"
trap 'grep -o " $run[^ ]*" /proc/self/mountinfo | tac | xargs -r umount -n -l; finish $?' EXIT
left() { grep -c " $run/nvidia-ctk-hook" /proc/self/mountinfo; }
for propagation in rshared rprivate; do
    container shares -v "$run:/run:$propagation" -- burn --forever
    wait_for 20 container_is_ready shares
    expect_total $gib docker exec shares info
    # The place of its mount is there, and nothing in it.
    expect_equal "cgpu's files in the host's folder" "$(find "$run/cgpu" -mindepth 1)" ''
    expect lab-restart-cgpud --kill
    expect_total $gib docker exec shares info
    expect docker rm -f shares >/dev/null
    # The mount that NVIDIA's hook has made on the host holds nothing of the container's.
    wait_for 10 none_listed
    expect_total $gib in_container -v "$run:/run:$propagation" -- info
    wait_for 10 none_listed
done
expect test "$(left)" -ge 2
rm "$settings/params"

echo "A hook of NVIDIA's fails, in both of its ways: nothing of cgpu's is left."
for m in legacy cdi; do
    mode "$m"
    echo fails >"$settings/more-hooks"
    host >"$scratch/before"
    for _ in 1 2 3; do expect_error 'nvidia-cdi-hook: failed' in_container -- true; done
    wait_for 10 none_listed
    expect diff "$scratch/before" <(host)
    rm "$settings/more-hooks"
    expect_total $gib in_container -- info
done

echo "Where the toolkit makes NVIDIA_VISIBLE_DEVICES void, the container has its GPU and its limit all the same."
mode cdi
expect_equal "without cgpu" "$(docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=all lab sh -c 'echo $NVIDIA_VISIBLE_DEVICES')" void
container void -- burn --forever
wait_for 20 container_is_ready void
expect_equal "the variable of a managed container" "$(tr '\0' '\n' <"/proc/${pids[void]}/environ" | sed -n 's/^NVIDIA_VISIBLE_DEVICES=//p')" void
expect_total $gib docker exec void info
# cgpu-runtime is called by NVIDIA's runtime, too, and finds the variable changed.
command -v cgpu-runtime >"$settings/low-level-runtime"
expect docker rm -f void >/dev/null
wait_for 10 none_listed
expect_total $gib in_container -- info
rm "$settings/low-level-runtime" "$settings/mode"
wait_for 10 none_listed
