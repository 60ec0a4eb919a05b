# A GPU that falls off its bus, and a driver that goes away: said, nothing more is put there, what remains goes on, and
# what comes back is used again.
. "$(dirname "$0")/../lib.sh"

# gpu INDEX KEY: of the GPU, as cgpuctl tells it.
gpu() { cgpuctl status --json | jq -r --argjson index "$1" ".gpus[] | select(.index == \$index).$2"; }
is() { [[ $(gpu "$1" "$2") == "$3" ]]; } # INDEX KEY VALUE

job first --mem 1GiB --gpus 0 -- burn --forever --kernel-us 1000
job second --mem 1GiB --gpus 1 -- burn --forever --kernel-us 1000
wait_for 20 is_ready first
wait_for 20 is_ready second

expect simgpu lose 0
wait_for 20 is 0 present false
expect has <(cgpuctl status 2>&1) 'NVML says: GPU is lost'
expect in_log 'instance [^ ]+ \(first\): its GPU 0 is not there now: NVML says: GPU is lost'
expect_equal "GPU 1" "$(gpu 1 present)" true
before=$(gpu_ns "${pids[second]}" 1)
more() { (($(gpu_ns "${pids[second]}" 1) > before)); }
wait_for 5 more
kill -KILL "${pids[first]}"
expect_error 'GPU is lost|not there|no GPU' cgpuctl run --mem 1GiB --gpus 0 -- true
# Who doesn't say where gets the one that is there.
expect cgpuctl run --mem 1GiB -- true

expect simgpu return 0
wait_for 20 is 0 present true
expect cgpuctl run --mem 1GiB --gpus 0 -- true
expect in_log 'GPU 0 .*MiB$'

# The driver goes away, and comes back.
expect simgpu unload
wait_for 30 is 1 present false
expect has <(cgpuctl status 2>&1) 'NVML (says|.*start): Driver Not Loaded'
expect_error 'none that its driver shows' cgpuctl run --mem 1GiB -- true
expect simgpu load
wait_for 20 is 1 present true
expect cgpuctl run --mem 1GiB --gpus 1 -- true
end_job second
