# test.sh LAB…: a lab leaves the machine as it was: files, mounts, processes.
. "$(dirname "$0")/../lib.sh"

# Names, kinds, times and sizes. Files that the machine itself changes all the time are left out.
files() {
    find /etc /usr /opt /var/lib /var/cache /run /dev \
        \( -path /run/log -o -path /run/systemd -o -path /var/lib/systemd -o -path /dev/pts -o -path /dev/char \
        -o -path /run/user -o -path /var/lib/docker -o -path /var/lib/containerd \) -prune -o \
        -printf '%p %y %m %s %T@ %C@\n' 2>/dev/null | grep -vE '^/dev/(tty|ptmx|null|console|shm )' | sort
}
mounts() {
    cut -d ' ' -f 4- /proc/self/mountinfo | sort
}

files >"$scratch/files.before"
mounts >"$scratch/mounts.before"
namespace=$("$@" --gpus 'V100:16130MiB*2' -- bash -c '
    cgpuctl status >&2 && touch /etc/lab-was-here /usr/lib/lab-was-here && { setsid sleep 600 & } && readlink /proc/self/ns/pid')
expect test -n "$namespace"
for what in files mounts; do
    "$what" >"$scratch/$what.after"
    expect diff "$scratch/$what.before" "$scratch/$what.after"
done
readlink /proc/[0-9]*/ns/pid | grep -qxF "$namespace" && fail "processes of the node are left"
exit 0
