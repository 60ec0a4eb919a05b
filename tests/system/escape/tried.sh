# Sourced by the tests of the environment, after their lib.sh.
try_environment=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/try_environment

# The folders of a job in which shared objects are looked for.
# shellcheck disable=SC2034 # for those who source this
job_folders=(/usr/lib /usr/lib64 /usr/libexec /usr/local /usr/share /lib64 /opt /run /etc /home /root /srv /tmp /var)

# expect_limit_only BYTES WHO COMMAND…: no program that try_environment started saw another size than this.
expect_limit_only() {
    local limit=$1 who=$2 asked answered
    shift 2
    "$@" >"$scratch/tried" 2>"$scratch/tried.err" || fail "$who: $(cat "$scratch/tried.err")"
    grep '^left out' "$scratch/tried"
    grep '^saw' "$scratch/tried" | grep -v " $limit\$" && fail "$who saw more than the limit"
    read -r asked answered < <(sed -n 's/^asked \([0-9]*\) answered \([0-9]*\)$/\1 \2/p' "$scratch/tried")
    echo "$who: $asked tries, $answered answers, each of them $limit bytes"
    # Most libraries do no harm to a program.
    ((answered * 2 > asked && asked > 20)) || fail "$who was answered too seldom"
}
