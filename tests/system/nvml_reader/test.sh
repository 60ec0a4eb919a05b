# The process that reads NVML for cgpud: it may crash, hang and be killed, and neither cgpud nor jobs suffer from it.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

cgpud() { cat "$CGPU_LAB/cgpud.pid"; }
reader() { pgrep -P "$(cgpud)" -x cgpu-nvml; }
another_reads() { [[ $(reader) && $(reader) != "$1" ]]; }

# NVIDIA's library is in the reader alone.
expect grep -q 'libnvidia-ml' "/proc/$(reader)/maps"
grep -qE 'libnvidia-ml|/dev/(simgpu|nvidia)' "/proc/$(cgpud)/maps" && fail "cgpud has the library or the device"
ls -l "/proc/$(cgpud)/fd" | grep -qE '/dev/(simgpu|nvidia)' && fail "cgpud has the device open"
job web -- alloc --mib 300 --hold
wait_for 20 is_ready web

# It is killed: the next question starts another, and nothing of the first is left in cgpud.
sockets() { find "/proc/$(cgpud)/fd" -lname 'socket:*' | wc -l; }
had=$(sockets) first=$(reader)
kill -KILL "$first"
wait_for 20 another_reads "$first"
expect cgpuctl doctor -q >"$scratch/doctor"
expect_equal "sockets of cgpud" "$(sockets)" "$had"
expect_equal "children of cgpud, ended ones too" "$(pgrep -c -P "$(cgpud)")" 1

# It hangs, as in a driver that hangs: who asks is told, the rest works, and a restarted cgpud has another one.
hanging=$(reader)
kill -STOP "$hanging"
began=$SECONDS
said=$(cgpuctl doctor --json | jq -r '.findings[] | select(.severity != "ok") | tostring')
expect grep -q 'it has not answered for 5 seconds' <<<"$said"
expect_between "seconds until doctor was told" $((SECONDS - began)) 4 15
expect cgpuctl set-policy -q 0 weighted
expect_equal "memory of the job" "$(cgpuctl list --json | jq '.[0].gpus[0].memory_used_bytes > 300 * 1048576')" true
lab-restart-cgpud --kill
expect another_reads "$hanging"
expect cgpuctl doctor -q >"$scratch/doctor"
[[ -d /proc/$hanging ]] || fail "the hanging process is gone, so nothing was tried"
kill -CONT "$hanging"
gone() { [[ ! -d /proc/$hanging ]]; }
wait_for 10 gone

# It ends with cgpud, however that ends.
last=$(reader)
kill -KILL "$(cgpud)"
gone() { [[ ! -d /proc/$last ]]; }
wait_for 10 gone
expect lab-restart-cgpud
end_job web

# By hand, for who looks for a fault: what it is asked and answers is readable.
expect_equal "by hand" "$(echo '{"id":1,"ask":"list"}' | /usr/libexec/cgpu/cgpu-nvml | jq -c '[.id, (.gpus | length)]')" '[1,1]'
expect_equal "no question" "$(echo 'hello' | /usr/libexec/cgpu/cgpu-nvml | jq -r .refusal.reason)" unsupported
expect_error 'Try: --help' /usr/libexec/cgpu/cgpu-nvml --hello
expect_error 'Try: --help' /usr/libexec/cgpu/cgpu-nvml --timeout 0

# A library that never answers (whoever opens a FIFO to read waits for one that writes) ends it after its time, by SIGALRM.
library=$(readlink -f "/usr/lib/$(uname -m)-linux-gnu/libnvidia-ml.so.1")
mkfifo "$scratch/fifo"
expect mount --bind "$scratch/fifo" "$library"
said=$(echo '{"id":1,"ask":"list"}' | timeout 30 /usr/libexec/cgpu/cgpu-nvml --timeout 1)
expect_equal "exit status, and what it said" "$? $said" "$((128 + 14)) "
expect umount "$library"
mv /usr/libexec/cgpu/cgpu-nvml /usr/libexec/cgpu/moved
expect lab-restart-cgpud
expect in_log 'the reader of NVML: /usr/libexec/cgpu/cgpu-nvml .*No such file.* Try: install cgpu again'
mv /usr/libexec/cgpu/moved /usr/libexec/cgpu/cgpu-nvml
seen() { cgpuctl status --json | jq -e '.gpus | length == 1 and .[0].present'; }
wait_for 20 seen >"$scratch/seen"
