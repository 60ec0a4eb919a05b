# Large numbers: 4096 processes on 16 GPUs, and 160 jobs whose cgpud is killed. Under a booted systemd. Each process takes four of
# cgpud's descriptors; where root may not give a service enough of them, it is half as many processes.
. "$(dirname "$0")/../lib.sh"

pid_of_cgpud() { systemctl show cgpud --property MainPID --value; }
cgpud_is_active() { systemctl is-active -q cgpud; }

# --- Clients of the link alone: up to 64 processes of each of 64 jobs, four jobs for each GPU.
each=64
descriptors=$(awk '/Max open files/ { print $4 }' "/proc/$(pid_of_cgpud)/limits")
((descriptors >= 20000)) || each=32
many=$((64 * each))
echo "$many processes; cgpud may have $descriptors descriptors"
for number in {0..63}; do
    job "many$number" --mem 1GiB --gpus $((number / 4)) -- peer --do stay --processes $each
done
# links: connections on the instances' sockets, which cgpud binds by its descriptor of their folder.
links() {
    awk '$8 ~ "^/proc/self/fd/[0-9]+/socket$" && $6 == "03" { count++ } END { print count + 0 }' /proc/net/unix
}
all_connected() { (($(links) >= many)); }
wait_for 60 all_connected
for number in {0..63}; do is_ready "many$number"; done

# wake_ups: how often each kind of cgpud's threads was woken, one line for each kind. One that was preempted wasn't woken.
wake_ups() {
    local task
    for task in "/proc/$(pid_of_cgpud)"/task/*; do
        echo "$(cat "$task/comm") $(awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }' "$task/status")"
    done | awk '{ sum[$1] += $2 } END { for (kind in sum) print kind, sum[kind] }' | sort
}
sleep 10 # what follows a Welcome: reports, and three looks at each new process (CutOffWatch), two seconds apart
wake_ups >"$scratch/before"
sleep 5
wake_ups >"$scratch/after"
echo "wake-ups of cgpud's threads in five seconds, with $many idle processes:"
join "$scratch/before" "$scratch/after" | awk '{ print "  " $1, $3 - $2 }'
# The watchdog is notified twice in ten seconds, the driver is queried now and then, and systemctl calls nothing.
expect_between "wake-ups in five seconds" \
    "$(join "$scratch/before" "$scratch/after" | awk '{ sum += $3 - $2 } END { print sum }')" 1 70

# A new process is served beside them, on the GPU of one of them.
job new --mem 1GiB --gpus 3 -- peer --do time --seconds 2
wait "${pids[new]}" || fail "the new job's leases failed: $(cat "$scratch/new.out" "$scratch/new.err")"
echo "leases beside $many idle processes: $(tr '\n' ' ' <"$scratch/new.out")"
expect_between "90 % of its leases, in us" "$(fact "$scratch/new.out" p90_us)" 0 20000
job works --mem 1GiB --gpus 3 -- burn --forever --kernel-us 1000
wait_for 20 is_ready works
works() { (($(gpu_ns "${pids[works]}" 3) > 0)); }
wait_for 20 works
end_job works
for number in {0..63}; do kill -KILL "${pids[many$number]}"; done
wait_for 30 none_listed

# --- 160 jobs, and a cgpud that is killed.
asks=(CGPU_MEM=600MiB)
for number in {1..160}; do
    job "job$number" --gpus $((number % 8)) -- alloc --mib 10 --hold
done
for number in {1..160}; do wait_for 60 is_ready "job$number"; done
# back: the number of jobs that have reported which module they run, and so are connected.
back() { cgpuctl list --json 2>/dev/null | jq '[.[] | select(.module_version != "")] | length'; }
all_back() { [[ $(back) == 160 ]]; }
wait_for 10 all_back
for round in {1..5}; do
    comeback --kill "$(pid_of_cgpud)" --instances 160 >"$scratch/comeback" 2>&1 || fail "$(cat "$scratch/comeback")"
    echo "kill -9 of cgpud: on the bus again after $(fact "$scratch/comeback" name_ms) ms, all 160 jobs were back after" \
        "$(fact "$scratch/comeback" back_ms) ms"
    fact "$scratch/comeback" back_ms >>"$scratch/took"
    wait_for 10 cgpud_is_active
done
expect_between "the best of five, in ms" "$(sort -n "$scratch/took" | head -n 1)" 0 2000
for number in {1..160}; do kill -TERM "${pids[job$number]}"; done
wait_for 30 none_listed
