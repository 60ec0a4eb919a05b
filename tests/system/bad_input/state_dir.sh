# A state_dir that can't be used, or not whole, with jobs running: cgpud doesn't start on it, and `cgpud --check` says why. It is
# never taken for the state of an empty node, which would remove the jobs' links; the next good start has the jobs again, whole.
. "$(dirname "$0")/../lib.sh"
. "$CGPU_LAB/cgpud.sh"
state=/var/lib/cgpu

expect cgpuctl set-policy 0 weighted -q
job one --mem 1GiB --weight 1 -- burn --forever --kernel-us 1000 --mib 100
job two --mem 2GiB --weight 2 -- burn --forever --kernel-us 1000 --mib 300
# Allocates once $scratch/go exists: under the next cgpud.
job late --mem 1GiB -- bash -c 'alloc --mib 100 --hold >"$0.first" & first=$!
    until grep -q ^ready "$0.first"; do sleep 0.05; done; echo ready
    until [[ -e $0.go ]]; do sleep 0.05; done
    alloc --mib 100 --until-fail >"$0.alloc"; kill $first; wait $first' "$scratch/late"
for name in one two late; do wait_for 20 is_ready $name; done

# links: what the jobs have mounted. A folder is the same one if its inode is; the sockets in it are made anew.
links() { find /run/cgpu/instances -type d -printf '%P %i %m %U\n' -o -printf '%P %y %m %U\n' | sort; }
figures() {
    cgpuctl list --json | jq -c 'sort_by(.name)[] | [.id, .name, .pid, .state, .gpus[0].memory_limit_bytes, .gpus[0].weight,
        .gpus[0].memory_used_bytes, .module_version]'
}
figures_are_back() { [[ $(figures) == "$figures_before" ]]; }
figures_before=$(figures)
links_before=$(links)
expect grep -q socket <<<"$links_before"
saved=$(sha256sum <$state/state.json)

# start_as USER: cgpud as in start_cgpud, but as this user.
start_as() {
    env -i PATH=/usr/sbin:/usr/bin setsid setpriv --reuid="$1" --regid="$1" --init-groups /usr/sbin/cgpud \
        >>"$CGPU_LAB/cgpud.log" 2>&1 </dev/null &
    echo $! >"$CGPU_LAB/cgpud.pid"
    wait_until 15 owns_name_or_dead
    owns_name
}
# refuses WHY USER [WHY-IN-LOG]: neither a start nor a check as this user succeeds, and nothing of the jobs is touched.
refuses() {
    local lines
    lines=$(lab-log | wc -l)
    expect_error "$1.*Try: " setpriv --reuid="$2" --regid="$2" --init-groups /usr/sbin/cgpud --check
    start_as "$2" && fail "cgpud started: $1"
    grep -qE -- "${3-$1}.*Try: " <(lab-log | tail -n +$((lines + 1))) || fail "the log doesn't say: ${3-$1}"
    expect_equal "the links" "$(links)" "$links_before"
    for name in one two; do computes $name; done
}

# The disk of the state isn't mounted, and the folder below is empty and read-only.
expect stop_cgpud TERM
expect mount -n -t tmpfs -o ro,mode=755 nothing $state
refuses 'there is no state in it, and none can be written: Read-only file system' root \
    "saving the state to $state/state.json: .*Read-only file system"
expect_error 'there is no state in it' cgpud --check
expect umount -n $state

# The user of cgpud may neither read nor write there.
systemd-sysusers /usr/lib/sysusers.d/cgpu.conf 2>/dev/null
if id -u cgpu >/dev/null 2>&1; then
    chown -R cgpu: /run/cgpu
    links_before=$(links)
    expect chmod 700 $state
    expect chown root: $state
    refuses "state file $state/state.json: it can't be read: Permission denied" cgpu
    chown -R root: /run/cgpu
    links_before=$(links)
fi
expect_equal "the state" "$(sha256sum <$state/state.json)" "$saved"

# A state that can be read is taken up, also where nothing can be written: the jobs are divided as before, and each change is
# refused with the reason.
expect mount -n -o remount,ro $state
expect cgpud --check >/dev/null
expect start_cgpud
wait_for 10 figures_are_back
expect_error "saving the state to $state/state.json: .*Read-only file system.*Try: " cgpuctl set-policy 0 fixed
expect_error "saving the state to .*Read-only file system.*Try: " cgpuctl run --mem 1GiB -- true
expect_equal "the links" "$(links)" "$links_before"
expect stop_cgpud TERM
expect mount -n -o remount,rw $state

# A good start: the jobs are whole. Their shares, their limits and their ends are as if nothing had been.
expect cgpud --check >/dev/null
expect start_cgpud
wait_for 10 figures_are_back
expect_equal "the links" "$(links)" "$links_before"

# The folder can't be synced after the new state has been renamed into it: the change is made and told, because it is in force
# for every reader of the file; the log warns that a power failure may undo it.
expect stop_cgpud TERM
env -i PATH=/usr/sbin:/usr/bin "LD_PRELOAD=$(dirname "$(readlink -f "$(command -v alloc)")")/no_folder_sync.so" setsid /usr/sbin/cgpud \
    >>"$CGPU_LAB/cgpud.log" 2>&1 </dev/null &
echo $! >"$CGPU_LAB/cgpud.pid"
wait_for 15 owns_name
expect cgpuctl set-max-inst 0 10 -q
expect in_log "the state is saved to $state/state.json, but its folder can't be synced"
expect_equal "max_inst" "$(cgpuctl status --json | jq '.gpus[0].max_inst')" 10
expect stop_cgpud KILL
expect start_cgpud
expect_equal "max_inst after the next start" "$(cgpuctl status --json | jq '.gpus[0].max_inst')" 10
wait_for 10 figures_are_back
expect cgpuctl set-max-inst 0 20 -q

sleep 0.5
expect_shares 6 4 one=33.3 two=66.7
: >"$scratch/late.go"
wait "${pids[late]}"
expect_equal "an allocation too much" "$(fact "$scratch/late.alloc" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
expect cgpuctl set-policy 0 fair-share -q
end_job one
end_job two
wait_for 10 none_listed
wait_for 10 nothing_held
