# Rootless Podman of a user whom polkit authorizes to run jobs: the container's processes have uids of the user's own range on
# the host. They get their limit all the same, as root of the container and as another user, also over a restart of cgpud, and
# are found if they take memory without the module.
. "$(dirname "${BASH_SOURCE[0]}")/rootless_lib.sh"

# The simplest storage, which needs no support of the node's file system.
engine() { as_alice podman --storage-driver vfs --runtime /usr/bin/cgpu-runtime "$@"; }
options=()

mkdir -p /etc/containers
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >/etc/containers/policy.json
# A node's control groups have no limit of processes, not even the one that sets none.
printf '[containers]\npids_limit = 0\n' >/etc/containers/containers.conf
expect engine load -q -i "$scratch/lab.tar" >/dev/null
rootless_cases
