#!/usr/bin/env bash
# cgpu's mounts in a container stay in it, also if its user shares a volume's mounts with the host.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
mib=$((1024 * 1024))

# A shared file system of the host with a driver in it that a managed container must not use without a front.
shared=$scratch/shared
mkdir "$shared" && mount -n -t tmpfs shared "$shared" && mount -n --make-shared "$shared" || skip "no mounts can be made here"
trap 'umount -n -l "$shared"; finish $?' EXIT
mkdir "$shared/compat" && cp -L /usr/lib/x86_64-linux-gnu/libcuda.so.1 "$shared/compat/libcuda.so.1"

# The host's mounts except those of the engine, the files of the shared file system, and the content of a container's
# /run/cgpu, if it is visible on the host.
host() {
    grep -vE ' /(var/lib|run)/(docker|containerd)/' /proc/self/mountinfo | sort
    (cd "$shared" && find . -type f -exec sha256sum {} +)
    (cd /run/cgpu && ls -d driver front link module 2>/dev/null)
}
host >"$scratch/before"
for propagation in rshared shared rslave slave rprivate private; do
    asks=(CGPU_MEM=1GiB)
    container "$propagation" -v "$shared:/usr/local/cuda:$propagation" -- sleep 1000
    host >"$scratch/during"
    expect diff "$scratch/before" "$scratch/during"
    for folder in "" /usr/local/cuda/compat; do
        expect_total $((1024 * mib)) docker exec -e "LD_LIBRARY_PATH=$folder" "$propagation" info
    done
    expect docker rm -f "$propagation" >/dev/null
    wait_for 10 none_listed
    host >"$scratch/after"
    expect diff "$scratch/before" "$scratch/after"
    echo "$propagation: nothing of it on the host"
done

echo "What the host mounts still comes into a shared volume."
asks=(CGPU_MEM=1GiB)
container late -v "$shared:/usr/local/cuda:rshared" -- sleep 1000
mkdir "$shared/late" && mount -n -t tmpfs late "$shared/late" && : >"$shared/late/here"
wait_for 5 docker exec late test -e /usr/local/cuda/late/here
umount -n "$shared/late" && rmdir "$shared/late"
expect docker rm -f late >/dev/null
wait_for 10 none_listed

echo "A shared /run."
run=$scratch/run
mkdir "$run" && mount -n -t tmpfs run "$run" && mount -n --make-shared "$run" && mkdir "$run/cgpu" || fail "no /run to share"
trap 'umount -n -l "$run" "$shared"; finish $?' EXIT
echo mine >"$run/cgpu/file"
host >"$scratch/before"
asks=(CGPU_MEM=1GiB)
container run -v "$run:/run:rshared" -- sleep 1000
host >"$scratch/during"
expect diff "$scratch/before" "$scratch/during"
expect_equal "what the host has there" "$(ls "$run/cgpu")" file
expect_total $((1024 * mib)) docker exec run info
expect docker rm -f run >/dev/null
wait_for 10 none_listed

# Docker checks the first mount of that name, which may be another one below.
mount -n --make-shared "$(stat -c %m /run)" || fail "the mount of /run can't be shared"
if docker run --rm -v /run:/run:rshared lab true 2>"$scratch/refused"; then
    echo "The host's own /run, shared."
    host >"$scratch/before"
    container run -v /run:/run:rshared -- sleep 1000
    host >"$scratch/during"
    expect diff "$scratch/before" "$scratch/during"
    expect_total $((1024 * mib)) docker exec run info
    expect lab-restart-cgpud
    expect_total $((1024 * mib)) in_container -- info
    expect_total $((1024 * mib)) docker exec run info
    expect docker rm -f run >/dev/null
    wait_for 10 none_listed
else
    echo "The host's own /run, shared: NOT TRIED, since Docker refuses it here: $(cat "$scratch/refused")"
fi
