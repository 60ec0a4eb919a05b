#!/usr/bin/env bash
# host_untouched.sh LAB…: a lab with Docker, too, leaves the machine as it was, its cgroups and network included.
. "$(dirname "$0")/../lib.sh"

. "$(dirname "$0")/../../lab.d/groups.sh"

links() {
    ls /sys/class/net
}
links >"$scratch/links.before"
expect "$@" --docker --gpus V100:16130MiB -- docker run --rm --runtime=cgpu -e CGPU_MEM=4GiB lab info
# The image is made once: one that is made again has another id.
id_in_a_lab() { "$@" --docker --gpus V100:16130MiB -- docker image inspect -f '{{.Id}}' lab; }
expect_equal "the image in another lab" "$(id_in_a_lab "$@")" "$(id_in_a_lab "$@")"
expect "$@" --docker --gpus V100:16130MiB -- docker run -d --runtime=cgpu -e CGPU_MEM=4GiB lab burn --forever
expect_equal "cgroups of labs, also of earlier ones that were killed" "$(left_groups)" ""
links >"$scratch/links.after"
expect diff "$scratch/links.before" "$scratch/links.after"
expect bash "$(dirname "$0")/../host_untouched/test.sh" "$@" --docker
