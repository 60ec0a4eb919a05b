#!/usr/bin/env bash
# cgpuctl reserve: a part waits for whoever brings its token, over the death of cgpud, once, and not for ever.
. "$(dirname "$0")/../lib.sh"
queued() { cgpuctl queue --json | jq -c '[.[].name]'; }
is_queued() { [[ $(queued) == "$1" ]]; }
state_of() { cgpuctl list --json | jq -r --arg name "$1" '.[] | select(.name == $name).state'; }
has_ended() { [[ -z $(state_of "$1") ]]; }
is_token() { [[ $1 =~ ^[0-9a-f]{32}$ ]]; }
allocated() { cgpuctl status --json | jq '.gpus[0].memory_allocated_bytes / 1048576'; }

echo "it holds its part, and says so"
token=$(cgpuctl reserve --name part --mem 8GiB --compute 50% 2>"$scratch/reserve.err") || fail "reserve: $(cat "$scratch/reserve.err")"
is_token "$token" || fail "no token: $token"
has "$scratch/reserve.err" '^GPU 0 .GPU-.*: memory 8192MiB, weight 10\.$' || fail "reserve says: $(cat "$scratch/reserve.err")"
has "$scratch/reserve.err" '^It is held for 10m, as ' || fail "reserve says: $(cat "$scratch/reserve.err")"
expect_equal "its state" "$(state_of part)" reserved
expect_equal "MiB of the GPU" "$(allocated)" 8192
cgpuctl list --state reserved | grep -qE ' part .* reserved, (10m|9m[0-9]+s) left$' || fail "list: $(cgpuctl list)"
for verb in list show describe events; do
    cgpuctl $verb $([[ $verb == show ]] && echo part) | grep -q "$token" && fail "$verb shows the token"
done
busctl call org.cgpu1 /org/cgpu1 org.freedesktop.DBus.ObjectManager GetManagedObjects | grep -q "$token" && fail "the bus shows the token"
expect_equal "files with the token that others may read" "$(find /run/cgpu /var/lib/cgpu -type f -perm /077 -exec grep -l "$token" {} +)" ""
grep -rq "$token" /var/lib/cgpu || fail "nothing has the token"
expect_error 'is free' cgpuctl run --mem 9GiB -- true
expect_equal "a dry run" "$(cgpuctl reserve --dry-run --mem 1GiB 2>&1 | sed 's/.*; //')" 'would be held, nothing was changed.'

echo "cgpud is killed, and the part stays; a job takes it over"
expect lab-restart-cgpud --kill
expect_equal "its state" "$(state_of part)" reserved
expect_error 'leave out CGPU_MEM' env CGPU_RESERVATION="$token" cgpuctl run --mem 1GiB -- true
expect_error 'no token of a reservation' env CGPU_RESERVATION=mine cgpuctl run -- true
expect_equal "a dry run" "$(CGPU_RESERVATION=$token cgpuctl run --dry-run -- true | sed 's/.*; //')" 'would be granted, nothing was changed.'
asks=(CGPU_RESERVATION="$token")
job user -- sh -c 'echo "inside ${CGPU_RESERVATION-none}"; exec alloc --mib 5000 --hold'
asks=()
wait_for 20 is_ready user
has "$scratch/user.out" '^inside none$' || fail "the job sees its token"
has_ended part || fail "the reservation is listed"
expect_equal "MiB of the GPU" "$(allocated)" 8192
expect_equal "its memory" "$(cgpuctl list --json | jq '.[0].gpus[0].memory_limit_bytes / 1048576')" 8192
expect_equal "its percentage" "$(cgpuctl show user --json | jq '.gpus[0].asked_share * 100 | round')" 50
in_log '\(part\): its part is now that of instance .*\(user\)' || fail "no event"
expect_error 'there is no such reservation: it was used, or its time is over' env CGPU_RESERVATION="$token" cgpuctl run -- true
expect_between "bytes that it holds" "$(held "${pids[user]}")" $((5000 << 20)) $((8192 << 20))

echo "it waits in the queue for its part; Ctrl-C takes it out"
cgpuctl reserve --wait --name waits --mem 10GiB >"$scratch/waits.out" 2>"$scratch/waits.err" &
waits=$!
wait_for 20 is_queued '["waits"]'
env --default-signal=INT cgpuctl reserve --wait --name leaves --mem 10GiB >/dev/null 2>&1 &
leaves=$!
wait_for 20 is_queued '["waits","leaves"]'
kill -INT $leaves
wait_for 20 is_queued '["waits"]'
expect_error 'it has waited 1s in the queue' cgpuctl reserve --wait=1s --mem 10GiB
expect lab-restart-cgpud --kill
wait_for 20 is_queued '["waits"]'
end_job user
wait $waits || fail "reserve --wait: $(cat "$scratch/waits.err")"
is_token "$(cat "$scratch/waits.out")" || fail "no token: $(cat "$scratch/waits.out")"
expect_equal "its state" "$(state_of waits)" reserved

echo "it is extended, given back, and ends when nobody uses it"
expect cgpuctl extend waits 1h -q
cgpuctl list | grep -qE ' waits .* reserved, 1h' || fail "list: $(cgpuctl list)"
expect_equal "a dry run of stop" "$(cgpuctl stop waits --dry-run)" 'waits: it would be given back; nothing was changed.'
expect_equal "stop" "$(cgpuctl stop waits)" 'waits: the reservation is given back.'
wait_for 5 none_listed
token=$(cgpuctl reserve -q --name brief --hold 2s --mem 1GiB) || fail "reserve -q"
wait_for 10 has_ended brief
cgpuctl events --type time-over | grep -q 'brief): nobody has used the reservation within 2s, so its part is free' ||
    in_log 'brief\): nobody has used the reservation within 2s, so its part is free' || fail "no event"
expect_error 'there is no such reservation' env CGPU_RESERVATION="$token" cgpuctl run -- true
for wrong in --hold=soon --hold=2d --hold=0s; do expect_error 'hold' cgpuctl reserve "$wrong" --mem 1GiB; done
expect_equal "JSON" "$(cgpuctl reserve --json --name json --mem 1GiB | jq -c '[(.token | length), .hold_seconds, .gpus[0].index]')" '[32,600,0]'
expect cgpuctl stop json -q
