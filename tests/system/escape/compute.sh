# Compute that nobody reports: a program that launches behind the module, and one that brings a driver, are found by the
# driver's samples, named and shown; honest jobs beside them are not. What they used is judged by the ledger.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/found.sh"

# unexplained NAME: in per cent of the GPU's time; null where nobody can know.
unexplained() {
    cgpuctl list --json | jq --arg name "$1" '.[] | select(.name == $name).gpus[0].compute_unexplained_share | if . then . * 100 | round else . end'
}
is_null() { # NAME
    [[ $(unexplained "$1") == null ]]
}
sampled='by the driver.s samples, uses [0-9]+% of the time of GPU-'

job steady --gpus 0 --mem 1GiB -- burn --kernel-us 1000 --forever
job rough --gpus 0 --mem 1GiB -- burn --kernel-us 300000,100 --forever
job idle --gpus 1 --mem 1GiB -- alloc --mib 16 --hold
for name in steady rough idle; do wait_for 20 is_ready "$name"; done

# No loader looks there when the job starts.
mkdir "$scratch/own"
cp -L "$(ldconfig -p | sed -n 's/.*libcuda\.so\.1 .*=> //p' | head -n 1)" "$scratch/own/libcuda.so.1"
job behind --gpus 1 --mem 1GiB -- escape --connected --mib 2 --compute-us 1000
job brought --gpus 2 --mem 1GiB -- env LD_LIBRARY_PATH="$scratch/own" burn --kernel-us 1000 --forever
for name in behind brought; do wait_for 20 is_ready "$name"; done
before=$(gpu_ns "${pids[behind]}" 1)
began=$SECONDS

for name in behind brought; do
    wait_for 45 was_found "${pids[$name]}" "$sampled"
    expect_between "what is unexplained of $name" "$(unexplained "$name")" 60 100
    expect has <(cgpuctl list) "$name .*% \\([0-9.]+% unexplained\\)"
    expect has <(cgpuctl show "$name") '^Compute unexplained: +[0-9.]+%'
    expect has <(cgpuctl why "$name" --seconds 1) "$name uses [0-9.]+% of the GPU.s time beyond what its processes report"
done
echo "both were found within $((SECONDS - began)) s"
expect has <(cgpuctl why idle --seconds 1) '^- behind uses .* beyond what its processes report'
used=$(($(gpu_ns "${pids[behind]}" 1) - before))
reported=$(cgpuctl list --json | jq '.[] | select(.name == "behind").gpus[0].gpu_time_seconds')
expect_between "nanoseconds that it had, by the ledger" "$used" 2000000000 60000000000
expect_between "seconds that it reported" "$reported" 0 0.5
echo "behind had $used ns since it was ready, and reported $reported s in all"

# Where the driver divides the compute, nothing is measured, and nobody is named.
expect cgpuctl set-policy 1 native
wait_for 5 is_null behind
wait_for 10 in_log "process ${pids[behind]}: unreported compute on GPU-[^ ]+ has ended"
end_job behind
end_job brought

for name in steady rough idle; do
    expect is_ready "$name"
    if in_log "process ${pids[$name]}: by the driver"; then fail "the honest job $name is named"; fi
done
for name in steady rough; do expect_equal "what is unexplained of $name" "$(unexplained "$name")" 0; done
