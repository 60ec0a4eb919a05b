# While a front loads the driver, no other process of the user gets the descriptors of the driver's files out of that process:
# with the shell and the environment alone, an ordinary user stays below the limit. Afterwards the process is as it was: its
# user may look into it.
. "$(dirname "$0")/../lib.sh"
attack=$(realpath "$(dirname "$0")/descriptor")
chmod 755 "$scratch"
mkdir -m 777 "$scratch/user"
cd "$scratch/user" || exit 1
user=(setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs)

# attacked COMMAND…: as the user in a job of 1 GiB; nothing came of it.
attacked() {
    cgpuctl run --mem 1GiB -- "${user[@]}" timeout 60 "$attack" "$@" >"$scratch/attacked" 2>&1
    # It did find a process that waited.
    expect_between "descriptors tried by $*" "$(fact "$scratch/attacked" tried)" 80 1000
    has "$scratch/attacked" ': 0 CUDA_SUCCESS|^driver' && fail "descriptor $*: $(cat "$scratch/attacked")"
    wait_for 10 none_listed
}
# Outside any job, the same means find a driver that nobody hides.
"${user[@]}" timeout 60 "$attack" stop env LD_PRELOAD=/proc/self/task/../fd/5 info 5</usr/lib/x86_64-linux-gnu/libcuda.so.1 \
    >"$scratch/attacked" 2>&1
expect has "$scratch/attacked" ': 0 CUDA_SUCCESS'
expect has "$scratch/attacked" '^driver'

for way in debug stop; do attacked $way info; done
attacked fifo info
attacked debug alloc --mib 16
# NVML's front.
for way in stop fifo; do attacked $way processes; done

# A filter of system calls that answers for the kernel keeps the process dumpable, and then there is no driver to take.
cp "$(dirname "$attack")/pretend_prctl.py" "$scratch/pretend"
for program in info processes; do
    cgpuctl run --mem 1GiB -- "${user[@]}" timeout 60 "$scratch/pretend" "$program" >"$scratch/pretended" 2>&1
    expect has "$scratch/pretended" "cuInit 802 |The driver's library can't be had"
    has "$scratch/pretended" 'cgpu: ' && fail "the module wrote into the output of $program: $(cat "$scratch/pretended")"
    has "$scratch/pretended" 'total_mem|^ready' && fail "$program, not hidden, had the driver: $(cat "$scratch/pretended")"
    wait_for 10 none_listed
done

# What the process may and others may with it afterwards.
job after --mem 1GiB -- "${user[@]}" alloc --mib 16 --hold
wait_for 20 is_ready after
is_alloc() { [[ $(cat "/proc/${pids[after]}/comm") == alloc ]]; }
wait_for 10 is_alloc
expect_equal "owner of its files in /proc" "$(stat -c %u "/proc/${pids[after]}/environ")" 1000
expect "${user[@]}" cat "/proc/${pids[after]}/maps" >"$scratch/maps"
expect has "$scratch/maps" libcuda
for file in /proc/"${pids[after]}"/fd/*; do
    [[ $(readlink "$file") == *libcuda* ]] && fail "the driver's file is still open: $file"
done
end_job after
wait_for 10 none_listed
