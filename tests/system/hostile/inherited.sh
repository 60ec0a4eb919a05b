# What a job inherits from outside its mounts, and what the host mounts later, doesn't lead past the fronts: descriptors of
# folders and of the driver's files, the working folder, and mounts over the folders of the driver.
. "$(dirname "$0")/../lib.sh"
chmod 755 "$scratch"
libraries=/usr/lib/x86_64-linux-gnu
limited=(cgpuctl run --mem 1GiB --)
user=(env SUDO_UID=65534 SUDO_GID=65534 cgpuctl run --mem 1GiB --)

# denied WHAT COMMAND…: a job that allocates more than its limit is refused the memory, or has no driver.
denied() {
    local what=$1
    shift
    "$@" >"$scratch/denied.out" 2>"$scratch/denied.err" && fail "$what: it has more than its limit"
    expect_equal "$what: MiB allocated" "$(fact "$scratch/denied.out" allocated_mib)" "${allowed-0}"
}
alloc=(alloc --mib 4000)

for kind in limited user; do
    declare -n run=$kind
    denied "$kind, honest" "${run[@]}" "${alloc[@]}"
    denied "$kind, the driver's folder" "${run[@]}" env LD_LIBRARY_PATH=/proc/self/fd/9 "${alloc[@]}" 9<$libraries
    denied "$kind, a folder above" "${run[@]}" env LD_LIBRARY_PATH=/proc/self/fd/9/lib/x86_64-linux-gnu "${alloc[@]}" 9</usr
    denied "$kind, the root" "${run[@]}" env LD_LIBRARY_PATH=/proc/self/fd/0$libraries "${alloc[@]}" </
    denied "$kind, the driver's file" "${run[@]}" env LD_PRELOAD=/proc/self/fd/9 "${alloc[@]}" 9<$libraries/libcuda.so.1
    denied "$kind, the driver's file as standard input" "${run[@]}" env LD_PRELOAD=/proc/self/fd/0 "${alloc[@]}" <$libraries/libcuda.so.1
    denied "$kind, working in the driver's folder" env -C $libraries "${run[@]}" env LD_LIBRARY_PATH=. "${alloc[@]}"
    denied "$kind, working above it" env -C /usr "${run[@]}" env LD_LIBRARY_PATH=/proc/self/cwd/lib/x86_64-linux-gnu "${alloc[@]}"
done
# Descriptors that O_PATH has opened, and one that leads to the folder through another mount namespace, in which its path is
# one where the user has a link here.
opened() { # PATH COMMAND…: as descriptor 9
    python3 -c 'import os, sys
fd = os.open(sys.argv[1], os.O_PATH)
os.dup2(fd, 9)
os.execvp(sys.argv[2], sys.argv[2:])' "$@"
}
# Namespaces that setns(2) enters.
unshare --mount sleep 100 &
apart=$!
wait_for 10 eval '[[ $(readlink /proc/$apart/ns/mnt) != "$(readlink /proc/self/ns/mnt)" ]]'
enter_it() { "${limited[@]}" nsenter --mount=/proc/self/fd/9 "${alloc[@]}" 9<"/proc/$apart/ns/mnt"; }
expect_error 'fd/9: No such file' enter_it
kill "$apart"
denied "O_PATH of the folder" opened $libraries "${limited[@]}" env LD_LIBRARY_PATH=/proc/self/fd/9 "${alloc[@]}"
denied "O_PATH of the file" opened $libraries/libcuda.so.1 "${limited[@]}" env LD_PRELOAD=/proc/self/fd/9 "${alloc[@]}"
mkdir "$scratch/there"
env -C $libraries sleep 100 &
outside=$!
unshare --mount bash -c 'mount --bind "$1" "$2" && echo ready && exec sleep 100' - $libraries "$scratch/there" >"$scratch/other" &
other=$!
wait_for 10 has "$scratch/other" ready
rmdir "$scratch/there" 2>/dev/null || mv "$scratch/there" "$scratch/elsewhere"
ln -s "/proc/$outside/cwd" "$scratch/there"
for way in "/proc/$other/root$scratch/there" "/proc/$other/root$scratch/elsewhere" "/proc/$outside/cwd" "/proc/$other/root"; do
    [[ -e $way ]] || continue
    denied "by $way" opened "$way/" "${limited[@]}" env "LD_LIBRARY_PATH=/proc/self/fd/9:/proc/self/fd/9$libraries" "${alloc[@]}"
done
kill "$other" "$outside"

echo "Other descriptors stay as they were."
mkdir "$scratch/folder"
echo text >"$scratch/folder/file"
expect_equal "a folder" "$("${user[@]}" cat /proc/self/fd/9/file 9<"$scratch/folder")" text
expect_equal "a file" "$("${user[@]}" cat /proc/self/fd/9 9<"$scratch/folder/file")" text
expect_equal "the working folder" "$(env -C "$scratch/folder" "${user[@]}" cat file)" text
chmod 700 "$scratch/folder"
expect_equal "a working folder that only root may enter" "$(env -C "$scratch/folder" "${limited[@]}" cat file)" text
cd "$scratch/folder" || fail "no such folder"
rm -r "$scratch/folder"
expect_error 'the working folder: .* Try: cd ' "${limited[@]}" true
cd / || fail "no root"

echo "Who gets the driver from cgpud can't write to it, not even root in a job, who owns the file."
cat >"$scratch/ask.py" <<'PYTHON'
import array, os, socket, struct
link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
link.connect('/run/cgpu/link/socket')
link.send(struct.pack('IIQIIII', 1, 32, 0, 3, 3, 3, 0))  # Hello of a front that asks for the driver
_, control, _, _ = link.recvmsg(600, 200)
files = array.array('i')
files.frombytes(control[0][2])
for file in files:
    try:
        os.open(f'/proc/self/fd/{file}', os.O_RDWR)
        print('open', os.readlink(f'/proc/self/fd/{file}'))
    except OSError as error:
        print('refused', error.errno)
PYTHON
expect "${limited[@]}" python3 "$scratch/ask.py" >"$scratch/ask.out"
expect_equal "what opening it for writing gives (EROFS)" "$(sort -u "$scratch/ask.out")" "refused 30"

# --- Later mounts of the host. /usr/lib is a mount of its own in a lab; / is the machine's.
mkdir "$scratch/empty" "$scratch/late"
expect mount --make-shared /
expect mount --make-shared /usr/lib
# later WHAT COMMAND…: a mount that the host makes while a job runs.
later() {
    local what=$1 at=$2
    shift 2
    rm -f "$scratch/go"
    job "$what" --mem 1GiB -- bash -c 'echo ready
        until [[ -e $1 ]]; do sleep 0.05; done
        alloc --mib 4000; env LD_LIBRARY_PATH=$2 alloc --mib 4000; echo done' - "$scratch/go" $libraries
    wait_for 20 is_ready "$what"
    expect "$@"
    : >"$scratch/go"
    wait "${pids[$what]}"
    expect has "$scratch/$what.out" '^done'
    mount --make-rprivate "$at" && umount -n -l "$at" # private: else what it copies would go, too
    expect_equal "MiB allocated after $what" "$(grep ^allocated_mib "$scratch/$what.out" | sort -u)" "allocated_mib 0"
}
later bind /usr/lib mount -n --bind /usr/lib /usr/lib
later overlay /usr/lib mount -n -t overlay late -o "lowerdir=$scratch/empty:/usr/lib" /usr/lib
later folder $libraries mount -n --bind $libraries $libraries
later above /usr mount -n --rbind /usr /usr

echo "Mounts elsewhere still come in."
job elsewhere --mem 1GiB -- bash -c 'echo ready; until [[ -e $1 ]]; do sleep 0.05; done; echo done' - "$scratch/late/here"
wait_for 20 is_ready elsewhere
expect mount -n -t tmpfs late "$scratch/late"
: >"$scratch/late/here"
wait_for 20 has "$scratch/elsewhere.out" '^done'
umount -n -l "$scratch/late"
wait "${pids[elsewhere]}"
