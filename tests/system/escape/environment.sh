# No path that a job can see leads to the driver's functions by LD_PRELOAD or LD_LIBRARY_PATH, for root and for a user.
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
limit=$((1 << 30))

# sees_the_limit WHO COMMAND…: what try_environment says.
sees_the_limit() {
    local who=$1 asked answered
    shift
    "$@" >"$scratch/tried" 2>"$scratch/tried.err" || fail "$who: $(cat "$scratch/tried.err")"
    grep '^saw' "$scratch/tried" | grep -v " $limit\$" && fail "$who saw more than the limit"
    read -r asked answered < <(sed -n 's/^asked \([0-9]*\) answered \([0-9]*\)$/\1 \2/p' "$scratch/tried")
    echo "$who: $asked tries, $answered answers, each of them $limit bytes"
    # Most libraries do no harm to a program.
    ((answered * 2 > asked && asked > 20)) || fail "$who was answered too seldom"
}
folders=(/usr/lib /usr/local/lib /usr/lib64 /lib64 /opt /run /etc)
sees_the_limit root cgpuctl run --mem 1GiB -- "$here/try_environment" driver "${folders[@]}"
sees_the_limit "a user" cgpuctl run --mem 1GiB -- setpriv --reuid 1000 --regid 1000 --clear-groups \
    "$here/try_environment" driver "${folders[@]}"
expect_error 'No such file' cgpuctl run --mem 1GiB -- ls /run/cgpu/driver
wait_for 10 none_listed
