# The control groups of labs. Sourced by tests/lab and by the tests of the lab; they are the machine's, not a node's.
#
# A lab has one name for all of its groups, in whichever hierarchies they are, and holds a lock on the group of that name in
# the hierarchy below while it lives. A lock is seen from every pid namespace, and ends with its holder: so one lab can tell
# which groups are left over from labs that were killed, however many labs live.
for groups_tree in /sys/fs/cgroup/unified /sys/fs/cgroup; do
    [[ -e $groups_tree/cgroup.procs ]] && break
done

# make_group: sets $group, the name, and $group_lock, the descriptor that holds the lock.
make_group() {
    local folder
    until [[ -d ${folder-} ]]; do # another lab may have taken it away before it was locked
        folder=$(mktemp -d "$groups_tree/cgpu-lab-XXXXXX") && chmod 755 "$folder" && exec {group_lock}<"$folder" &&
            flock -s "$group_lock" || return
    done
    group=${folder##*/}
}

# left_groups: the groups of labs that have ended, a line each.
left_groups() {
    local folder lock
    for folder in /sys/fs/cgroup/*/cgpu-lab-* /sys/fs/cgroup/cgpu-lab-*; do
        lock=$groups_tree/${folder##*/}
        [[ ! -d $folder ]] || { [[ -d $lock ]] && ! flock -n -x "$lock" true 2>/dev/null; } || echo "$folder"
    done
}

# remove_groups NAME…: those of this name, whose lab has ended, and those that other labs left.
remove_groups() {
    local folder
    { left_groups && printf '%s\n' /sys/fs/cgroup/*/"$1" /sys/fs/cgroup/"$1"; } | while read -r folder; do
        [[ ! -d $folder ]] || find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null
    done
}
