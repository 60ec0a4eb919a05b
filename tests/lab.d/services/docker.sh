# How to wait for a node's dockerd. Sourced by docker_by_hand.sh and docker_by_systemd.sh.
. "$(dirname "${BASH_SOURCE[0]}")/../wait.sh"

docker_answers() {
    docker version >/dev/null 2>&1
}
