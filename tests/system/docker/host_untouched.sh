#!/usr/bin/env bash
# host_untouched.sh LAB…: a lab with Docker, too, leaves the machine as it was, its cgroups and network included.
. "$(dirname "$0")/../lib.sh"

cgroups() {
    find /sys/fs/cgroup -type d | sort
}
links() {
    ls /sys/class/net
}
cgroups >"$scratch/cgroups.before"
links >"$scratch/links.before"
expect "$@" --docker --gpus V100:16130MiB -- docker run --rm --runtime=cgpu -e CGPU_MEM=4GiB lab info
expect "$@" --docker --gpus V100:16130MiB -- docker run -d --runtime=cgpu -e CGPU_MEM=4GiB lab burn --forever
for what in cgroups links; do
    "$what" >"$scratch/$what.after"
    expect diff "$scratch/$what.before" "$scratch/$what.after"
done
expect bash "$(dirname "$0")/../host_untouched/test.sh" "$@" --docker
