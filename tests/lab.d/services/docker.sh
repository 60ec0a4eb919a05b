# What a node's dockerd is waited for with, by hand or by systemd. Sourced by docker_by_hand.sh and docker_by_systemd.sh.
. "$(dirname "${BASH_SOURCE[0]}")/../wait.sh"

docker_answers() {
    docker version >/dev/null 2>&1
}
