# cgpud's files are damaged in each way in turn: state, leases, history and configuration are truncated, flipped, zeroed, doubled, of
# another kind, or older copies of themselves (mutations.py, damage.py). CGPU_TEST_SCALE: part of 1,000, default 0.1.
# CGPU_TEST_SEED: the same ones again. Two GPUs.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$CGPU_LAB/cgpud.sh"
/usr/bin/python3 -c 'import gi' 2>/dev/null || skip "python3-gi is not here, by which cgpud is asked"
seed=${CGPU_TEST_SEED:-$(date +%s)}
count=$(jq -n "1000 * ${CGPU_TEST_SCALE:-0.1} | ceil")
state=/var/lib/cgpu
older=$CGPU_LAB/older

echo "A node with something in each of its files, and an older copy of each."
mkdir -p /etc/cgpu/cgpud.yaml.d "$older"
printf 'history_mib: 1\nhistory_interval_s: 1\nslice_ms: 4\nplacement: spread\nweights:\n  trainer: 3\n' >/etc/cgpu/cgpud.yaml
printf 'log_level: info\ncontext_estimate_mib: 300\n' >/etc/cgpu/cgpud.yaml.d/more.yaml
expect lab-restart-cgpud
expect cgpuctl set-policy 0 weighted -q
expect cgpuctl set-default-memory 3GiB -q
asks=(CGPU_MEM=2GiB)
job early --gpus 0 --weight 3 -- alloc --mib 300 --hold
wait_for 20 is_ready early
expect cgpuctl set-weight early 2 --persist -q
job short --gpus 1 -- burn --seconds 3 --kernel-us 1000
wait "${pids[short]}"
sleep 2
copy() { # the files, as they are now
    cp $state/state.json "$older/state"
    cp $state/.state.json.spare "$older/spare"
    cp /run/cgpu/leases "$older/leases"
    cp $state/history "$older/history"
    cp /etc/cgpu/cgpud.yaml "$older/configuration"
    cp /etc/cgpu/cgpud.yaml.d/more.yaml "$older/drop-in"
    /usr/bin/python3 -B "$here/mutations.py" --describe >"$older/described" || fail "cgpud can't be described"
}
copy
expect cgpuctl set-policy 0 fixed -q
expect cgpuctl set-max-inst 1 14 -q
job late --gpus 1 --weight 2 -- alloc --mib 500 --hold
wait_for 20 is_ready late
expect cgpuctl set-memory early 2500MiB --persist -q
job short --gpus 1 -- burn --seconds 3 --kernel-us 1000
wait "${pids[short]}"
sed -i 's/slice_ms: 4/slice_ms: 6/' /etc/cgpu/cgpud.yaml
sed -i 's/300/200/' /etc/cgpu/cgpud.yaml.d/more.yaml
expect lab-restart-cgpud
for name in early late; do wait_for 10 is_counted $name "$([[ $name == early ]] || echo 1)"; done
# A stopped process connects to no cgpud, so that all that is known of it is what the files have.
kill -STOP "${pids[early]}" "${pids[late]}"
sleep 2
expect stop_cgpud TERM
# What the damaged files say is compared of the time until now: each cgpud adds a record of its own.
until=$(($(date +%s) + 1))
date -d "@$until" '+%Y-%m-%d %H:%M:%S' >"$older/until"
is_past() { (($(date +%s) >= until)); }
wait_for 5 is_past

echo "$count damaged files, seed $seed."
/usr/bin/python3 -B "$here/mutations.py" "$count" "$seed" >"$scratch/mutations.out" 2>&1
status=$?
cat "$scratch/mutations.out"
((status == 0)) || fail "seed $seed: $(tail -n 1 "$scratch/mutations.out")"
kill -CONT "${pids[early]}" "${pids[late]}"
expect start_cgpud
