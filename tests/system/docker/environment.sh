#!/usr/bin/env bash
# No path in a container leads to the driver's functions by LD_PRELOAD or LD_LIBRARY_PATH, for root and for a user, wherever
# the driver comes from.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../escape/tried.sh"

for mode in legacy cdi; do
    mkdir -p /etc/nvidia-container-runtime
    echo "$mode" >/etc/nvidia-container-runtime/mode
    for user in 0:0 1000:1000; do
        expect_limit_only "$limit_of_four" "$mode, $user" \
            docker run --rm --runtime=cgpu -e "${four_of_15[0]}" -e "${four_of_15[1]}" --user "$user" \
            -v "$try_environment:/try:ro" lab /try all /usr /lib /lib64 /opt /run /etc /home /root /srv /tmp /var
    done
done
wait_for 10 none_listed
