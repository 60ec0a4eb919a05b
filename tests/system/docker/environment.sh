#!/usr/bin/env bash
# No path that a container can see leads to the driver's functions by LD_PRELOAD or LD_LIBRARY_PATH, for root and for a
# user, whoever brought the driver.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
try=$(cd "$(dirname "${BASH_SOURCE[0]}")/../escape" && pwd)/try_environment

for mode in legacy cdi; do
    mkdir -p /etc/nvidia-container-runtime
    echo "$mode" >/etc/nvidia-container-runtime/mode
    for user in 0:0 1000:1000; do
        docker run --rm --runtime=cgpu -e "${four_of_15[0]}" -e "${four_of_15[1]}" --user "$user" -v "$try:/try:ro" lab \
            /try all /usr /lib /lib64 /opt /run /etc /home /root /srv /tmp /var >"$scratch/tried" 2>"$scratch/tried.err" ||
            fail "$mode, $user: $(cat "$scratch/tried.err")"
        grep '^saw' "$scratch/tried" | grep -v " $limit_of_four\$" && fail "$mode, $user: more than the limit was seen"
        read -r asked answered < <(sed -n 's/^asked \([0-9]*\) answered \([0-9]*\)$/\1 \2/p' "$scratch/tried")
        echo "$mode, $user: $asked tries, $answered answers, each of them $limit_of_four bytes"
        ((answered * 2 > asked && asked > 10)) || fail "$mode, $user: answered too seldom"
    done
done
wait_for 10 none_listed
