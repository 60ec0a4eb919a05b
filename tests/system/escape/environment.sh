# No path in a job leads to the driver's functions by LD_PRELOAD or LD_LIBRARY_PATH, for root and for a user.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tried.sh"
limit=$((1 << 30))

expect_limit_only $limit root cgpuctl run --mem 1GiB -- "$try_environment" driver "${job_folders[@]}"
expect_limit_only $limit "a user" cgpuctl run --mem 1GiB -- setpriv --reuid 1000 --regid 1000 --clear-groups \
    "$try_environment" driver "${job_folders[@]}"
expect_error 'No such file' cgpuctl run --mem 1GiB -- ls /run/cgpu/driver
wait_for 10 none_listed
