# The disk of cgpud's state is full, read-only, or answers with EIO: at each kind of change (refusals.py), at the ends of processes,
# which can't be refused, and below the lease file. Two GPUs.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
own=$(cgpuctl status --json | jq -r .module_version)
next=${own%.*}.$((${own##*.} + 1))
chmod 755 "$scratch"
expect make_bundle "$scratch" "$CGPU_LAB/engines/next.so" "$next" "$own"
expect cgpuctl module add -q "$scratch/$next"
mkdir -p /etc/cgpu && echo 'unmanaged: whole' >/etc/cgpu/cgpud.yaml
begin_disk
check_disk

echo "Each kind of change, with each kind of failure."
/usr/bin/python3 -B "$here/refusals.py" "$socket" "$next" >"$scratch/refusals.out" 2>&1 || fail "$(tail -n 5 "$scratch/refusals.out")"
cat "$scratch/refusals.out"
wait_for 10 none_listed
expect in_log "the state is saved to $state/state.json, but its folder can't be synced"

echo "A process ends, or is gone on with, while the disk refuses to save that: it is told once, and saved when the disk allows it."
asks=(CGPU_MEM=1GiB CGPU_GPUS=0)
job ends -- alloc --mib 100 --hold
job killed -- alloc --mib 100 --hold
# The first process of this one ends, and another one is left.
# shellcheck disable=SC2016
job goes_on -- bash -c 'alloc --mib 100 --hold & echo "left $!"; until [[ -e $0 ]]; do sleep 0.05; done' "$scratch/go"
for name in ends killed goes_on; do wait_for 20 is_ready $name; done
left=$(fact "$scratch/goes_on.out" left)
lines=$(lab-log | wc -l)
new_log() { lab-log | tail -n +$((lines + 1)); }
tell fail sync EIO >/dev/null
end_job ends
kill -KILL "${pids[killed]}"
wait "${pids[killed]}" 2>/dev/null
: >"$scratch/go"
wait "${pids[goes_on]}"
said_all() { (($(new_log | grep -cE 'has ended (but stays listed|, and the state still has)|the state still has that one') >= 3)); }
wait_for 10 said_all
expect_equal "those listed" "$(cgpuctl list --json | jq -r '[.[].name] | sort | join(" ")')" "ends goes_on killed"
expect_error "$state.*Try: " cgpuctl run --mem 1GiB -- true
# As long as several tries take.
sleep 3
expect_equal "lines of the log about it" "$(new_log | grep -cE 'has ended')" 3
# A cgpud that starts meanwhile finds the same.
stop_cgpud KILL
expect start
expect_equal "those listed" "$(cgpuctl list --json | jq -r '[.[].name] | sort | join(" ")')" "ends goes_on killed"
tell well >/dev/null
only_one_left() { [[ $(cgpuctl list --json | jq -c 'map([.name, .pid])') == "[[\"goes_on\",$left]]" ]]; }
wait_for 10 only_one_left
stop_cgpud KILL
expect start
expect only_one_left
kill -TERM "$left"
wait_for 10 none_listed
wait_for 10 nothing_held

echo "A job that waits is not cancelled by halves."
asks=(CGPU_MEM=1GiB)
job waited_for -- alloc --mib 100 --hold
wait_for 20 is_ready waited_for
expect cgpuctl set-mode none --drain --no-wait -q
tell fail sync EIO >/dev/null
expect_error "$state.*Try: " cgpuctl set-mode --cancel
upgrade() { cgpuctl status --json | jq -r ".upgrade.$1"; }
expect_equal "the job" "$(upgrade state)" drain
tell well >/dev/null
stop_cgpud KILL
expect start
expect_equal "the job" "$(upgrade state)" drain
expect cgpuctl set-mode --cancel -q
expect_equal "the job's end" "$(upgrade result)" cancelled
end_job waited_for
wait_for 10 none_listed

echo "A configuration that can't be put in force is when the disk works."
policy() { cgpuctl status --json | jq -r '.gpus[0].policy_name'; }
tell full-anew >/dev/null
echo 'policy: weighted' >>/etc/cgpu/cgpud.yaml
kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
wait_for 10 in_log 'GPUs: saving the state to .*Try: '
expect_equal "the policy" "$(policy)" proportional
tell well >/dev/null
is_weighted() { [[ $(policy) == weighted ]]; }
wait_for 30 is_weighted

echo "The lease file: cgpud doesn't start without one that it can write."
expect stop_cgpud TERM
leases=/run/cgpu/leases
lease_disk=$scratch/lease_disk
mkdir "$lease_disk"
unsafe_disk --socket "$scratch/leases" --at "$lease_disk" >"$scratch/lease_disk.out" 2>&1 &
wait_for 10 has "$scratch/lease_disk.out" '^ready'
: >"$lease_disk/leases"
: >$leases
expect mount -n --bind "$lease_disk/leases" $leases
refused() { # ORDER WHY
    expect unsafe_disk --socket "$scratch/leases" --tell "$1" >/dev/null
    start && fail "cgpud started with a lease file that can't be written: $1"
    expect in_log "lease file $leases: .*$2.*Try: "
    expect unsafe_disk --socket "$scratch/leases" --tell well >/dev/null
}
refused full 'No space left on device'
refused read-only 'Read-only file system'
refused 'fail write EIO' 'Input/output error'
expect start
job last -- alloc --mib 100 --hold
wait_for 20 is_ready last
stop_cgpud KILL
expect start
wait_for 10 is_counted last
end_job last
wait_for 10 none_listed
expect stop_cgpud TERM
umount -n $leases "$lease_disk"
expect start
