# What a new user does, on a system that has neither cgpu nor a compiler: install the package, look, run a job (README). Every shipped
# program is run, because one that was linked wrongly may have no wrong symbol and yet not start.
. "$(dirname "$0")/../../../tests/system/lib.sh"
began=$SECONDS
if command -v gcc g++ cc; then fail "this root is not bare: it has a compiler"; fi
expect dpkg -i "$CGPU_LAB_PACKAGE" >"$scratch/install.log" 2>&1
active() { [[ $(systemctl is-active cgpud) == active ]]; }
wait_for 20 active
expect cgpuctl status
expect cgpuctl list
asks=(CGPU_MEM=1GiB)
expect cgpuctl run --mem 1GiB -- alloc --mib 600 >"$scratch/within"
expect_equal "within the limit" "$(sed -n 's/^result //p' "$scratch/within")" "0 CUDA_SUCCESS"
cgpuctl run --mem 1GiB -- alloc --mib 1200 >"$scratch/beyond"
expect_equal "beyond the limit" "$(sed -n 's/^result //p' "$scratch/beyond")" "2 CUDA_ERROR_OUT_OF_MEMORY"
took=$((SECONDS - began))
((took < 180)) || fail "the first job took $took s"

cgpuctl doctor >"$scratch/doctor" 2>&1
tail -n 1 "$scratch/doctor"
expect_equal "what doctor finds" "$(grep -cE '^(error|bad)' "$scratch/doctor")" 0
for program in cgpud cgpuctl cgpu-smi cgpu-exporter cgpu-runtime; do
    expect "$program" --version
done
for program in /usr/lib/cgpu/cgpu-{load,enter,people,runtime-managed} /usr/libexec/cgpu/cgpu-nvml; do
    # They say what they miss, end at once, or work until they are ended (124): one that can't start ends by a signal, or with 126 or
    # 127.
    timeout 2 "$program" </dev/null >/dev/null 2>"$scratch/said"
    status=$?
    ((status < 126)) || fail "$program ended with $status: $(cat "$scratch/said")"
done
expect dpkg -P cgpu >"$scratch/purge.log" 2>&1
for left in /usr/bin/cgpuctl /usr/lib/cgpu /usr/libexec/cgpu /var/lib/cgpu; do
    [[ ! -e $left ]] || fail "$left is left"
done
echo "the first job: $took s after the package was there"
