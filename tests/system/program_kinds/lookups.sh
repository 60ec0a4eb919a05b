# For every name, version and flags that are looked up: a function with a hook is the front's, all others are the driver's
# own, and functions that the driver lacks are not found. So it is with the simulated driver, and with older and newer
# ones.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../real_driver/install.sh"
source=$(cd "$(dirname "$0")/../../.." && pwd)
hooks=$source/module/front/hooks/hooks.txt
drivers_of_simgpu=$(dirname "$(readlink -f "$(command -v simgpu)")")
drivers=0

lookups() { # DRIVER
    job lookups --mem 1GiB -- "$kinds/lookups" "$source/module/generate/cuda_api.tsv" "$hooks"
    wait "${pids[lookups]}" || fail "$1: $(head -n 20 "$scratch/lookups.out")"
    echo "$1: $(xargs <"$scratch/lookups.out")"
    expect_between "substituted" "$(fact "$scratch/lookups.out" substituted)" 5000 "$(fact "$scratch/lookups.out" lookups)"
    drivers=$((drivers + 1))
    wait_for 10 none_listed
}

lookups newest
for driver in "$drivers_of_simgpu"/older/* "$drivers_of_simgpu"/newer/*; do
    install_driver "$driver"
    lookups "${driver##*/}"
done
expect_between "drivers" "$drivers" 7 99

# The last driver has functions that nobody knows, and only that one: they are logged once for it and shown.
expect_equal "functions of newer drivers" "$(cgpuctl status --json | jq -c .newer_driver_functions)" \
    '["cuFutureAllocate","cuFutureLaunch","cuMemAlloc_v3"]'
cgpuctl status 2>&1 | grep -q 'driver: 3 functions are newer than this release' || fail "status doesn't show them"
job again --mem 1GiB -- true
wait "${pids[again]}" || fail "a job with that driver"
expect_equal "lines of the log about them" "$(lab-log | grep -c 'that are newer than this release')" 1
in_log 'driver "/usr/lib/.*libcuda.so.700.*3 functions' || fail "the log doesn't name the driver"
