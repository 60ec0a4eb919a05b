# Sourced by the lab, in and out of the node.

# wait_until SECONDS COMMAND…: until it succeeds; fails when the time is over.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.02
    done
}
