# A job out of a login session is a scope of systemd: systemctl shows, limits and stops it. A job in another program's cgroup
# stays there.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
asks=("${four_of_15[@]}")

# Newer versions of systemd-run replace variables in the command, if they aren't told not to.
as_written=()
! grep -q -e --expand-environment <(systemd-run --help) || as_written=(--expand-environment=no)
# in_session NAME COMMAND…: as in a login session, in a scope of the slice of user 4242.
in_session() {
    systemd-run "${as_written[@]}" --quiet --scope --unit "session-$1.scope" --slice user-4242.slice env "${asks[@]}" "${@:2}"
}
cgroup_of() { sed -n 's/^0:://p' "/proc/$1/cgroup"; }

# The user's first login. A slice stops with its last unit, and systemd starts nothing in one that is about to stop.
systemd-run --quiet --scope --unit session-first.scope --slice user-4242.slice sleep infinity &
first_is_there() { [[ $(systemctl is-active session-first.scope) == active ]]; }
wait_for 10 first_is_there

# Its cgroup, what systemctl says of it, its exit status.
where=$(in_session c1 cgpuctl run --name one -- sed -n 's/^0:://p' /proc/self/cgroup)
expect_equal "slice" "${where%/*}" /user.slice/user-4242.slice
[[ ${where##*/} =~ ^cgpu-job-[0-9a-f]{12}\.scope$ ]] || fail "the job's cgroup is $where"
in_session c2 cgpuctl run -- bash -c 'exit 7'
expect_equal "exit status" $? 7
wait_for 10 none_listed

# begin NAME: a job of that name, out of a session, that computes.
begin() {
    in_session "$1" cgpuctl run --name "$1" -- bash -c 'echo $$ >"$0.pid"; exec burn --forever --kernel-us 1000 --mib 10' \
        "$scratch/$1" >"$scratch/$1.out" 2>&1 &
    wait_for 20 test -s "$scratch/$1.pid"
    pid=$(<"$scratch/$1.pid")
    wait_for 20 more_than 0 "$pid"
    unit=$(basename "$(cgroup_of "$pid")")
}
begin two
expect_equal "description" "$(systemctl show "$unit" --property Description --value)" "cgpu job two"
expect_equal "its instance" "$(cgpuctl list --json | jq -r '.[0].id[:12]')" "$(tr -dc '0-9a-f\n' <<<"${unit#cgpu-job-}" | cut -c1-12)"
expect systemctl set-property --runtime "$unit" MemoryMax=512M
expect_equal "its limit of memory" "$(systemctl show "$unit" --property MemoryMax --value)" $((512 << 20))
# A machine whose controllers are of cgroup v1 has none to use here.
limit=/sys/fs/cgroup$(cgroup_of "$pid")/memory.max
[[ ! -e $limit ]] || expect_equal "the kernel's limit" "$(<"$limit")" $((512 << 20))

# The session ends without the job. systemctl ends the job, and its part of the GPU is free.
session_is_over() { [[ $(systemctl is-active session-two.scope) == inactive ]]; }
wait_for 10 session_is_over
expect kill -0 "$pid"
expect systemctl stop "$unit"
wait_for 10 none_listed
expect_equal "scopes that are left" "$(systemctl list-units --all --no-legend 'cgpu-job-*' | wc -l)" 0

# A service keeps its job in its cgroup, and so its limits and its stop.
where=$(systemd-run --quiet --wait --pipe --unit trainer env "${asks[@]}" cgpuctl run -- sed -n 's/^0:://p' /proc/self/cgroup)
expect_equal "cgroup of a service's job" "$where" /system.slice/trainer.service
wait_for 10 none_listed
expect systemctl stop session-first.scope
