# Memory that a process has exported and that a descriptor keeps, in a process that uses no GPU: it stays the instance's, so nobody
# gets more than a limit by passing descriptors on.
. "$(dirname "$0")/../lib.sh"
exported=$(realpath "$(dirname "$0")/exported.py")
limit=$((2 << 30))

on_card() { ledger '.gpus[0].used_bytes'; }
used_of() { cgpuctl list --json | jq --arg name "$1" '[.[] | select(.name == $name).gpus[0].memory_used_bytes] | add // 0'; }
is_charged() { [[ $(used_of "$1") == "$(on_card)" ]]; }
holder=
hold() {
    rm -f "$scratch/socket" "$scratch/holder.out"
    python3 "$exported" hold "$scratch/socket" >"$scratch/holder.out" &
    holder=$!
    wait_for 20 has "$scratch/holder.out" '^ready'
}
close_all() { kill "$holder" && wait "$holder" 2>/dev/null; }

for way in end killed exec free; do
    echo "By $way"
    hold
    # Three times 600 MiB fit beside a context, and not a fourth one.
    job "$way" --mem 2GiB -- bash -c "for i in 1 2 3 4 5 6; do python3 $exported $way 600 $scratch/socket; done; echo done; sleep 1000"
    all_tried() { has "$scratch/$way.out" '^done'; }
    wait_for 60 all_tried
    echo "$(on_card) bytes are in use, $(used_of "$way") are charged"
    expect_between "bytes in use on the card" "$(on_card)" $((1200 << 20)) "$limit"
    wait_for 5 is_charged "$way"
    expect_between "takes of 600 MiB" "$(grep -c '^taken' "$scratch/$way.out")" 2 3
    close_all
    wait_for 10 nothing_held
    wait_for 10 is_charged "$way"
    expect_equal "charged when all descriptors are closed" "$(used_of "$way")" 0
    kill "${pids[$way]}"
    wait_for 20 none_listed
done

echo "Memory that is opened again before it is freed"
for way in reopen ipc; do
    job "$way" --mem 2GiB -- python3 "$exported" "$way" 400
    all_tried() { has "$scratch/$way.out" '^done'; }
    wait_for 30 all_tried
    echo "$way: $(on_card) bytes are in use, $(used_of "$way") are charged"
    expect_between "bytes in use on the card" "$(on_card)" $((1200 << 20)) "$limit"
    wait_for 5 is_charged "$way"
    kill "${pids[$way]}"
    wait_for 20 none_listed
done

echo "An instance that has ended stays listed while descriptors keep its memory, and is known to a cgpud that starts anew"
hold
expect cgpuctl run --name gone --mem 2GiB -- python3 "$exported" end 600 "$scratch/socket"
wait_for 10 is_charged gone
expect_between "what it keeps" "$(used_of gone)" $((600 << 20)) $((600 << 20))
wait_for 5 in_log '600 ?MiB on GPU-.* are kept by descriptors'
expect lab-restart-cgpud
wait_for 10 is_charged gone

expect_equal "charged by the new one" "$(used_of gone)" $((600 << 20))
close_all
wait_for 20 none_listed
wait_for 5 in_log 'that only descriptors kept is free'
