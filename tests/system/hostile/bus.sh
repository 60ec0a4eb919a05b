# What a user without rights can do to cgpud over the bus: under a booted systemd, with its watchdog.
. "$(dirname "$0")/../lib.sh"

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
of_unit() { systemctl show cgpud --property "$1" --value; }
was="$(of_unit NRestarts) $(of_unit MainPID)"
memory() { awk '/^Rss(Anon|Shmem):/ { kib += $2 } END { print kib * 1024 }' "/proc/$(of_unit MainPID)/status"; }
manager=(org.cgpu1 /org/cgpu1 org.cgpu1.Manager)

# Calls of 27 MiB are refused, quickly, with a sentence, and leave nothing behind; meanwhile cgpud answers others.
expect cgpuctl status
before=$(memory)
as_nobody long_calls --calls 8 >"$scratch/long" 2>&1 &
caller=$!
slowest=0
while kill -0 "$caller" 2>/dev/null; do
    began=${EPOCHREALTIME/./}
    expect busctl call "${manager[@]}" FindGpu s 0 >/dev/null
    took=$((${EPOCHREALTIME/./} - began))
    ((took < slowest)) || slowest=$took
done
wait "$caller"
echo "answered with: $(tail -n 1 "$scratch/long"); the slowest of others' calls meanwhile: $slowest us"
expect has "$scratch/long" 'more than 64KiB of text .*Try: '
expect_between "the slowest call beside calls of 27 MiB, in us" "$slowest" 0 3000000
expect_between "what cgpud kept of them, in bytes" "$(($(memory) - before))" -1000000000 $((32 * 1024 * 1024))

# A list of 100 000 GPUs is refused before it is read.
list=$(seq -s, 0 99999)
expect_error 'longer than|more than 64KiB' busctl call "${manager[@]}" CreateInstance 'ssa{ss}a{sv}' abc abc 2 CGPU_MEM 1GiB CGPU_GPUS "${list:0:100000}" 0

# Limits for the whole service.
expect_equal "MemoryMax" "$(of_unit MemoryMax)" $((1024 * 1024 * 1024))
expect_equal "the service" "$(of_unit NRestarts) $(of_unit MainPID)" "$was"
