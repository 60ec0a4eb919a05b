# Exact under fire: processes of four jobs, with threads each, allocate and free memory at random near their job's limit, in
# all ways. They are killed at random moments, some are stopped for a while, and cgpud is killed again and again. By the
# simulator's trace of all changes the jobs' allocations never exceed the limit, no request that fits is refused for longer
# than the recall deadline, and nothing is left in the end (check_trace.py says how that is judged). CGPU_TEST_SCALE: part of
# 10 000 processes, default 0.1. CGPU_TEST_SEED: another run.
. "$(dirname "$0")/../lib.sh"
here=$(dirname "$0")
mib=$((1024 * 1024))
processes=$(jq -n "10000 * ${CGPU_TEST_SCALE:-0.1} | ceil") # in all
seed=${CGPU_TEST_SEED:-1}
RANDOM=$seed
# The processes of fire-d live longest, so that memory that they withhold from each other is not soon free by their end.
declare -A limits=([fire-a]=2048 [fire-b]=1536 [fire-c]=2048 [fire-d]=1536) # MiB on each GPU
declare -A gpus=([fire-a]=0 [fire-b]=0 [fire-c]="0 1" [fire-d]=0)
declare -A parts=([fire-a]=36 [fire-b]=36 [fire-c]=25 [fire-d]=3) # per cent of the processes
# Without pools the contexts count, too: they are all of one size, and cgpud knows it.
declare -A rules=([fire-a]=pools [fire-b]=whole [fire-c]=whole [fire-d]=pools)
declare -A steps=([fire-a]=60 [fire-b]=60 [fire-c]=60 [fire-d]=300)

# Everything of cgpu besides processes: its files (sockets are among them), mounts, and cgpud's descriptors: sockets, pages,
# watched processes.
left_behind() {
    find /run/cgpu -mindepth 1 | sort
    awk '{print $5}' /proc/self/mountinfo | sort
    find "/proc/$(cat "$CGPU_LAB/cgpud.pid")/fd" -type l -printf '%l\n' | sed -E 's/[0-9]+//g' | sort | uniq -c
}

# After the first job of a node cgpud keeps some descriptors open.
expect cgpuctl run --mem 1GiB -- alloc --mib 1
wait_for 5 none_listed
expect lab-restart-cgpud --kill
expect cgpuctl run --mem 1GiB -- alloc --mib 1
wait_for 5 none_listed
left_behind >"$scratch/before"
expect simgpu trace --start

for name in "${!limits[@]}"; do
    flags=()
    for gpu in ${gpus[$name]}; do flags+=(--device "$gpu"); done
    [[ ${rules[$name]} == pools ]] || flags+=(--no-pools)
    job "$name" --mem "${limits[$name]}MiB" --gpus "$(tr ' ' , <<<"${gpus[$name]}")" -- under_fire --hold --name "$name" \
        --journal "$scratch/$name.journal" --limit-mib "${limits[$name]}" "${flags[@]}" --patience-ms 300 \
        --processes $(((processes * parts[$name] + 99) / 100)) --steps "${steps[$name]}" --at-once 5 --threads 3 --seed "$seed"
done
all_ready() {
    for name in "${!limits[@]}"; do is_ready "$name" || return; done
}
restarts=0
until all_ready; do
    sleep "$((RANDOM % 3 + 1)).$((RANDOM % 10))"
    expect lab-restart-cgpud --kill
    restarts=$((restarts + 1))
done

# All workers are dead, the jobs are not: nothing of them is charged, leased or held.
nothing_charged() {
    [[ $(cgpuctl list --json | jq '[.[].gpus[] | .memory_used_bytes + .memory_leased_bytes] | add') == 0 ]]
}
wait_for 10 nothing_charged
wait_for 10 nothing_held
expect_equal "jobs" "$(cgpuctl list -q | wc -l)" 4
for name in "${!limits[@]}"; do end_job "$name"; done
wait_for 5 none_listed
nothing_left() {
    left_behind >"$scratch/after"
    diff "$scratch/before" "$scratch/after" >"$scratch/left.out"
}
wait_for 5 nothing_left
expect_equal "processes left" "$(pgrep -c under_fire)" 0

expect simgpu trace >"$scratch/trace"
echo "cgpud was killed $restarts times"
instances=()
for name in "${!limits[@]}"; do
    instances+=("$name=$((limits[$name] * mib)):$scratch/$name.journal:${rules[$name]}")
done
expect python3 -B "$here/check_trace.py" "$scratch/trace" "${instances[@]}"
