# Sourced by the lab, in and out of the node.

# What starts a daemon in a session of its own, with the caller's priority beside other programs of the machine: where the kernel
# schedules sessions as groups, a nice value counts within its session only.
# shellcheck disable=SC2016,SC2034 # sh expands it; used where this is sourced
own_session=(setsid sh -c '{ nice >/proc/self/autogroup; } 2>/dev/null; exec "$@"' sh)

# wait_until SECONDS COMMAND…: until it succeeds; fails when the time is over.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.02
    done
}
