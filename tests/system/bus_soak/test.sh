# Eight clients call cgpud at random, one of them without rights, while instances come and go; first while cgpud is killed again and
# again, then in peace. Every answer and every state is the model's (client.py, model.py); no call makes cgpud crash, grow or keep
# something. CGPU_TEST_SCALE: part of 100 000 calls, default 0.1. CGPU_TEST_SEED: another run. Seven GPUs.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
/usr/bin/python3 -c 'import gi' 2>/dev/null || skip "python3-gi is not here, by which the clients call"
seed=${CGPU_TEST_SEED:-1}
calls=$(jq -n "100000 * ${CGPU_TEST_SCALE:-0.1} / 16 | ceil") # of each client in each part

cgpud() { cat "$CGPU_LAB/cgpud.pid"; }
# Without the code of libraries: how much of it is mapped depends on when cgpud was quiet.
resident() { awk '/^Rss(Anon|Shmem)/ {kib += $2} END {print kib}' "/proc/$(cgpud)/status"; }
descriptors() { find "/proc/$(cgpud)/fd" -type l -printf '%l\n' | sed -E 's/[0-9]+//g' | sort | uniq -c; }

# Someone without rights reads everything and changes nothing.
gpu=$(busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindGpu s 0 | cut -d'"' -f2)
cat >"$scratch/nobody.sh" <<NOBODY
for ((done = 0; done < $((calls / 20 + 5)); done++)); do
    busctl call org.cgpu1 $gpu org.cgpu1.Gpu SetPolicy 'sa{sv}' native 0 2>&1
    busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager Apply 'aa{sv}a{sv}' 1 2 gpu s 0 policy s native 0 2>&1
    busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager Forget 'sa{sv}' soak0-a 0 2>&1
    busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager Describe >/dev/null 2>&1
done
NOBODY
clients=()
begin_clients() { # PART
    local index
    clients=()
    for index in 0 1 2 3 4 5 6; do
        /usr/bin/python3 -B "$here/client.py" "$index" "$calls" "$seed/$1" >"$scratch/$1.$index.out" 2>&1 &
        clients+=($!)
    done
    setpriv --reuid=65534 --regid=65534 --clear-groups bash <"$scratch/nobody.sh" >"$scratch/$1.nobody.out" 2>&1 &
    nobody=$!
}
# end_clients PART: each has done all its calls.
end_clients() {
    local index
    for index in "${!clients[@]}"; do
        wait "${clients[index]}" || fail "client $index (seed $seed/$1): $(cat "$scratch/$1.$index.out")"
    done
    wait "$nobody"
    cat "$scratch/$1".?.out
    expect has "$scratch/$1.nobody.out" 'only root may'
    # Nothing was done for it: what it was told is a refusal, or that cgpud is being started.
    grep -vE 'only root may|Call failed|Remote peer|activat|not provided|Connection|Could not' "$scratch/$1.nobody.out" |
        grep . && fail "nobody was told something else"
    wait_for 30 none_listed
}
someone_calls() {
    local client
    for client in "${clients[@]}"; do kill -0 "$client" 2>/dev/null && return; done
    return 1
}

RANDOM=$seed
kills=0
begin_clients killed
while someone_calls; do
    sleep "0.$((RANDOM % 8 + 2))"
    kill -0 "$(cgpud)" || fail "cgpud has ended by itself"
    expect lab-restart-cgpud --kill
    kills=$((kills + 1))
done
end_clients killed
echo "cgpud was killed $kills times"

expect lab-restart-cgpud
begin_clients warm
end_clients warm
before=$(resident)
descriptors >"$scratch/before"
pid=$(cgpud)
begin_clients peace
end_clients peace
expect_equal "cgpud" "$(cgpud)" "$pid"
expect kill -0 "$pid"
same_descriptors() {
    descriptors >"$scratch/after"
    diff "$scratch/before" "$scratch/after" >"$scratch/descriptors.out"
}
wait_for 10 same_descriptors
echo "resident: $before KiB before, $(resident) KiB after as many calls again"
# The allocator may keep a few pages more; a leak of 100 bytes a call would be seen.
# A sanitizer keeps what was freed.
[[ $CGPU_LAB_CGPUD ]] || expect_between "KiB resident" "$(resident)" 1 $((before + 512 + calls * 7 / 10))
expect_equal "what is kept" "$(find /run/cgpu/instances -mindepth 1 | wc -l)" 0
expect_equal "faults in the log" "$(lab-log | grep -ciE 'exception|the daemon failed')" 0
