# The power of the disk with cgpud's state is cut under load, again and again, and cgpud starts on what is left. Clients (changer.py)
# change all that is kept there meanwhile, and compare the node with what they were told: nothing that was acknowledged is lost, the
# change under way is made or not, and instances keep their living processes. CGPU_TEST_SCALE: part of 150 cuts, default 0.1.
# CGPU_TEST_SEED: the same choices again, though not the same moments. Three GPUs.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
seed=${CGPU_TEST_SEED:-$(date +%s)}
cuts=$(jq -n "150 * ${CGPU_TEST_SCALE:-0.1} | ceil")
RANDOM=$seed

begin_disk
check_disk
expect cgpuctl set-policy 2 weighted -q
job steady --mem 2GiB --gpus 2 --weight 3 -- alloc --mib 300 --hold
wait_for 20 is_ready steady
steady() { cgpuctl list --json | jq -c '.[] | select(.name == "steady") | [.id, .pid, .state, .gpus[0].memory_limit_bytes, .gpus[0].weight]'; }
steady_before=$(steady)
expect test -n "$steady_before"

clients=()
for each in 0 1 node; do
    /usr/bin/python3 -B "$here/changer.py" $each "$seed" >"$scratch/changer.$each.out" 2>&1 &
    clients+=($!)
    wait_for 20 has "$scratch/changer.$each.out" '^begun'
done
clients_call() {
    local client
    for client in "${clients[@]}"; do
        kill -0 "$client" 2>/dev/null || fail "seed $seed, cut $cut: a client ended: $(cat "$scratch"/changer.*.out)"
    done
}
disk_holds() { (($(tell held) > 0)); }

for ((cut = 1; cut <= cuts; cut++)); do
    # At a step of the disk, or at any moment.
    if ((RANDOM % 2)); then
        tell hold $((RANDOM % 60 + 1)) >/dev/null
        wait_for 20 disk_holds
        # What can still be answered is.
        sleep "0.0$((RANDOM % 9))"
    else
        sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    fi
    clients_call
    cgpud_runs || fail "seed $seed, cut $cut: cgpud has ended by itself"
    kill -KILL "$(cat "$CGPU_LAB/cgpud.pid")"
    # Those that hold the disk up are dead, and it answers them.
    said=$(tell cut $((seed + cut)))
    expect stop_cgpud KILL
    # Nobody has changed anything since: the second cut has nothing left to lose.
    said+="; $(tell cut $((seed + cut)))"
    expect cgpud --check >/dev/null
    start || fail "seed $seed, cut $cut ($said): cgpud doesn't start"
    ((cut % 10)) || expect_equal "seed $seed, cut $cut ($said): the job" "$(steady)" "$steady_before"
done
clients_call
sleep 0.3
kill -TERM "${clients[@]}"
for client in "${clients[@]}"; do
    wait "$client" || fail "seed $seed: a client failed: $(cat "$scratch"/changer.*.out)"
done
echo "seed $seed, $cuts cuts:"
cat "$scratch"/changer.*.out
expect_equal "what the log says of the state" \
    "$(lab-log | grep -E 'state file|saved to|lease file|can.t be saved|exception')" ''
expect_equal "the job" "$(steady)" "$steady_before"
expect is_counted steady 2
end_job steady
wait_for 10 none_listed
