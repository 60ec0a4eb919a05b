# A user with the right to run jobs, and no other, in one control group with programs of root and of another user: a service that
# systemd-run started for a batch system, whose name has hexadecimal digits. The user takes those for an instance's id. The programs
# of the others aren't taken for the instance's, so on_escape isn't applied to them.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../lib.sh"
. "$here/../../bus/polkit_lib.sh"
other=65533 # another user's id
chmod 755 "$scratch"
install -m 644 "$here/calls.py" "$scratch/calls.py"
as_other() { setpriv --reuid=$other --regid=nogroup --clear-groups "$@"; }

tree=/sys/fs/cgroup/unified
[[ -e $tree/cgroup.procs ]] || tree=/sys/fs/cgroup
digits=f63c8f0d1fee467d82082b878bb6e2eb
group=$tree/$(cat "$CGPU_LAB/cgroup")/run-r$digits.service
mkdir "$group" || skip "no control group can be made here"
let_user_run

# in_group COMMAND…: in the background, in the service's group.
in_group() {
    (echo "$BASHPID" >"$group/cgroup.procs" && exec "$@") &
}
in_group alloc --mib 600 --hold >"$scratch/roots.out" 2>&1
roots=$!
in_group setpriv --reuid=$other --regid=nogroup --clear-groups alloc --mib 500 --hold >"$scratch/others.out" 2>&1
others=$!
in_group setpriv --reuid="$(id -u $user)" --regid=nogroup --clear-groups /usr/bin/python3 "$scratch/calls.py" own \
    "${digits:0:12}00000000000000000000" >"$scratch/own.out" 2>&1
own=$!
for name in roots others own; do wait_for 20 has "$scratch/$name.out" '^ready'; done
for pid in $roots $others $own; do
    expect has "/proc/$pid/cgroup" "run-r$digits.service"
done
of_own() { cgpuctl list --json | jq -c ".[] | select(.name == \"own\") | [.gpus[0].memory_used_bytes, .gpus[0].processes_outside]"; }
expect_equal "the user's instance" "$(of_own)" '[0,[]]'

echo "A process that really is outside the module is found; by then these would have been, too."
as_user cgpuctl run --name past --mem 1GiB -- escape --mib 300 >"$scratch/past.out" 2>&1 &
wait_for 20 has "$scratch/past.out" '^ready'
past=$(fact "$scratch/past.out" pid)
wait_for 20 in_log "process $past: uses GPU-[^ ]+ outside the module"
expect_equal "the user's instance" "$(of_own)" '[0,[]]'
for pid in $roots $others; do
    if in_log "process $pid: "; then fail "another's program is taken for the user's"; fi
done

kill "$own" "$past" "$roots" "$others"
wait "$own" "$roots" "$others"
rmdir "$group"
