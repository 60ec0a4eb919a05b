# A GPU that falls off its bus, and a driver that goes away: both are reported, nothing more is put there, remaining programs
# continue, and a GPU or driver that comes back is used again.
. "$(dirname "$0")/../lib.sh"

# gpu INDEX KEY: of the GPU, by cgpuctl.
gpu() { cgpuctl status --json | jq -r --argjson index "$1" ".gpus[] | select(.index == \$index).$2"; }
is() { [[ $(gpu "$1" "$2") == "$3" ]]; } # INDEX KEY VALUE

job first --mem 1GiB --gpus 0 -- burn --forever --kernel-us 1000
job second --mem 1GiB --gpus 1 -- burn --forever --kernel-us 1000
wait_for 20 is_ready first
wait_for 20 is_ready second

expect simgpu lose 0
wait_for 20 is 0 present false
expect has <(cgpuctl status 2>&1) 'NVML says: GPU is lost'
expect has <(cgpuctl status 2>/dev/null) '^0 \(lost\) '
expect has <(cgpuctl show 0) '^GPU: +0 \(lost: NVML says: GPU is lost\)$'
expect has <(cgpuctl doctor -q 2>/dev/null) '^problem +GPUs +GPU 0 \(.*\) is lost: the driver no longer shows it$'
expect_error 'problems? (was|were) found' cgpuctl doctor -q
expect in_log 'instance [^ ]+ \(first\): its GPU 0 is not there now: NVML says: GPU is lost'
wait_for 20 in_log 'GPU 0 \([^)]*\): its driver has reported Xid 79: the GPU has fallen off its bus'
expect in_log 'instance [^ ]+ \(first\): its GPU has reported Xid 79'
expect_equal "GPU 1" "$(gpu 1 present)" true
before=$(gpu_ns "${pids[second]}" 1)
more() { (($(gpu_ns "${pids[second]}" 1) > before)); }
wait_for 5 more
kill -KILL "${pids[first]}"
expect_error 'GPU is lost|not there|no GPU' cgpuctl run --mem 1GiB --gpus 0 -- true
# A request that names no GPU gets the present one.
expect cgpuctl run --mem 1GiB -- true

expect simgpu return 0
wait_for 20 is 0 present true
expect cgpuctl run --mem 1GiB --gpus 0 -- true
expect in_log 'GPU 0 .*MiB$'

# Errors that the driver reports: in the journal, on the bus as a signal, in figures; GPU 0's is not GPU 1's.
busctl --json=short monitor org.cgpu1 >"$scratch/signals" 2>/dev/null &
monitor=$!
monitors() { cgpuctl status >/dev/null && has "$scratch/signals" 'Describe'; }
wait_for 10 monitors
expect simgpu xid 1 48
expect simgpu xid 1 12345
is_told() { [[ $(gpu 1 xid_errors) == 2 ]]; }
wait_for 20 is_told
expect_equal "the last one" "$(gpu 1 last_xid)" 12345
expect_equal "of GPU 0" "$(gpu 0 xid_errors) $(gpu 0 last_xid)" "1 79"
expect has <(cgpuctl show 1) '^Xid errors: +2, the last one 12345$'
expect in_log "GPU 1 .*: its driver has reported Xid 48: an error of the card's memory"
expect in_log 'GPU 1 .*: its driver has reported Xid 12345$'
expect in_log 'instance [^ ]+ \(second\): its GPU has reported Xid 48'
wait_for 5 has "$scratch/signals" '"member":"XidError".*"data":\[48,'
kill "$monitor"

# The driver goes away, and comes back.
expect simgpu unload
wait_for 30 is 1 present false
expect has <(cgpuctl status 2>&1) 'NVML (says|.*start): Driver Not Loaded'
expect_error 'none that its driver shows' cgpuctl run --mem 1GiB -- true
expect simgpu load
wait_for 20 is 1 present true
expect cgpuctl run --mem 1GiB --gpus 1 -- true
end_job second
