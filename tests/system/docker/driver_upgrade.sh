#!/usr/bin/env bash
# The host's driver is upgraded, reinstalled and removed while containers run: they keep theirs, and their limit; new ones get
# the new one.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
libraries=/usr/lib/x86_64-linux-gnu
driver=$(readlink -f "$libraries/libcuda.so.1")
nvml=$(readlink -f "$libraries/libnvidia-ml.so.1")

# replace TEXT: both libraries, as a package manager does it: another file takes the name.
replace() {
    local file
    for file in "$driver" "$nvml"; do
        cp "$file" "$file.dpkg-new" && echo "$1" >>"$file.dpkg-new" && mv "$file.dpkg-new" "$file" || fail "replacing $file"
    done
    new=$(sha256sum <"$driver" | cut -d ' ' -f 1)
}
# still NAME SUM: it computes on, its new programs get the limit, and have the driver with this checksum behind the module.
still() {
    computes "$1"
    expect_total "$limit_of_four" docker exec "$1" info
    expect docker exec -d "$1" burn --forever
    wait_for 10 has_two_of "$1" "$2"
    kill "$(processes_of "$1" | grep -vx "${pids[$1]}")"
    wait_for 10 has_one "$1"
}
processes_of() { docker top "$1" -eo pid | tail -n +2 | tr -d ' '; }
has_one() { (($(processes_of "$1" | wc -l) == 1)); }
kill_cgpud() {
    if [[ -d /run/systemd/system ]]; then
        expect systemctl kill --signal KILL cgpud
        wait_for 20 cgpuctl status
    else
        expect lab-restart-cgpud --kill
    fi
}
has_two_of() {
    local pid
    (($(for pid in $(processes_of "$1"); do drivers_in "$pid"; done | grep -c "$2") >= 2))
}
for mode in legacy cdi; do
    mkdir -p /etc/nvidia-container-runtime
    echo "$mode" >/etc/nvidia-container-runtime/mode
    asks=("${four_of_15[@]}")
    old=$(sha256sum <"$driver" | cut -d ' ' -f 1)
    container "before-$mode" -- burn --forever
    wait_for 20 container_is_ready "before-$mode"
    replace "$mode"
    still "before-$mode" "$old"
    container "after-$mode" -- burn --forever
    wait_for 20 container_is_ready "after-$mode"
    still "after-$mode" "$new"
    echo "$mode: replaced"

    # The next cgpud has the files again: from systemd's store, or by their paths on the host. Without a store the old files
    # are gone, and running programs continue.
    # ones are gone, and what runs goes on.
    kill_cgpud
    computes "before-$mode"
    still "after-$mode" "$new"
    if [[ -d /run/systemd/system ]]; then
        still "before-$mode" "$old"
    else
        expect_error 'CUDA_ERROR_SYSTEM_NOT_READY|802' docker exec "before-$mode" alloc --mib 1
    fi
    expect docker rm -f "before-$mode" "after-$mode" >/dev/null
    wait_for 10 none_listed
done
