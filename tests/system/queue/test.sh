# What fits nowhere now waits with --wait: in its order, over the death of cgpud, until its deadline, until it is taken out, or until
# its caller ends; and nothing is left of it then.
. "$(dirname "$0")/../lib.sh"
queued() { cgpuctl queue --json | jq -c '[.[].name]'; }
is_queued() { [[ $(queued) == "$1" ]]; }
runs() { [[ $(cgpuctl list --json | jq -r --arg name "$1" '.[] | select(.name == $name).state') == running ]]; }
nothing_left() { [[ $(queued) == '[]' && -z $(ls /run/cgpu/queued) ]]; }
instances_on_bus() { busctl --list tree org.cgpu1 | grep -c '/org/cgpu1/instance/'; }

job first --mem 12GiB -- alloc --mib 10 --hold
wait_for 20 is_ready first

echo "who can't wait, and what can never fit, is refused at once"
expect_error 'is free' cgpuctl run --mem 8GiB -- true
expect_error 'the whole GPU has 16130MiB' cgpuctl run --wait --mem 20GiB -- true
expect_error 'CGPU_WAIT="5": it has no unit' env CGPU_WAIT=5 cgpuctl run --mem 1GiB -- true
expect_error -- '--wait.*"soon": it is no duration' cgpuctl run --wait=soon --mem 1GiB -- true
expect_error 'is free' cgpuctl run --wait --dry-run --mem 8GiB -- true

echo "it waits, and everybody sees for what"
job second --wait --mem 8GiB -- alloc --mib 10 --hold
wait_for 20 is_queued '["second"]'
wait_for 20 has "$scratch/second.err" 'waiting in the queue, position 1: GPU 0 has 3842MiB free, and 8192MiB are needed'
cgpuctl queue | grep -qE '^1 .* second .* 8GiB .* GPU 0 has 3842MiB free' || fail "queue: $(cgpuctl queue)"
cgpuctl list | grep -qE ' second .* queued$' || fail "list: $(cgpuctl list)"
expect_equal "list --state queued" "$(cgpuctl list --state queued --json | jq -c '[.[].name]')" '["second"]'
for verb in show why; do
    cgpuctl $verb second | grep -qE '^Waits for: +GPU 0 has 3842MiB free' || fail "$verb: $(cgpuctl $verb second)"
done
cgpuctl status | grep -q '^1 request waits in the queue' || fail "status: $(cgpuctl status)"
expect_error 'it waits in the queue, at position 1 .GPU 0 has' cgpuctl ps second
path=$(busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindInstance s second | cut -d '"' -f 2)
property() { busctl --json=short get-property org.cgpu1 "$path" org.cgpu1.Instance "$1" | jq -r .data; }
expect_equal "State" "$(property State)" queued
expect_equal "QueuePosition" "$(property QueuePosition)" 1
[[ $(property WaitsFor) == 'GPU 0 has '* ]] || fail "WaitsFor: $(property WaitsFor)"
in_log '\(second\): waits for its part of a GPU, as number 1 of the queue' || fail "no event"

echo "nobody passes it; a deadline, Ctrl-C, a kill, and stop take others out"
expect_error 'second\) waits and comes first' cgpuctl run --mem 2GiB -- true
expect_error 'it has waited 1s in the queue, and still waits: .*second\) comes first' cgpuctl run --wait=1s --mem 2GiB -- true
in_log 'refused to user id 0.*has waited' && fail "a deadline is told as a refused call"
in_log 'leaves the queue after 1s: its time to wait is over' || fail "no event of the deadline"
expect_equal "its exit status" "$(cgpuctl run --wait=1s --mem 2GiB -- true 2>/dev/null; echo $?)" 4
asks=(--default-signal=INT) # a shell's background jobs ignore it
for signal in INT KILL; do
    job leaving --wait --mem 2GiB -- true
    wait_for 20 is_queued '["second","leaving"]'
    kill -$signal "${pids[leaving]}"
    wait_for 20 is_queued '["second"]'
done
asks=()
job taken --wait --mem 2GiB -- true
wait_for 20 is_queued '["second","taken"]'
expect_equal "a dry run of stop" "$(cgpuctl stop taken --dry-run)" 'taken: it would be taken out of the queue; nothing was changed.'
expect_equal "stop" "$(cgpuctl stop taken)" 'taken: taken out of the queue.'
wait "${pids[taken]}"
expect_equal "exit status of one that was taken out" $? 4
has "$scratch/taken.err" 'user id 0 has taken it from the queue' || fail "taken: $(cat "$scratch/taken.err")"

echo "the queue outlives cgpud, in its order and with its callers"
job third --wait --mem 8GiB -- alloc --mib 10 --hold
wait_for 20 is_queued '["second","third"]'
job fourth --wait --prio high --mem 8GiB -- alloc --mib 10 --hold
wait_for 20 is_queued '["fourth","second","third"]'
expect lab-restart-cgpud --kill
wait_for 20 is_queued '["fourth","second","third"]'
kill -KILL "${pids[third]}"
wait_for 20 is_queued '["fourth","second"]'
end_job first
wait_for 20 is_ready fourth
runs fourth || fail "fourth doesn't run: $(cgpuctl list)"
wait_for 20 is_queued '["second"]'
end_job fourth
wait_for 20 is_ready second
in_log '\(second\): starts after it has waited' || fail "no event of the start"
wait_for 5 nothing_left

echo "time limits show when there will be room, and let short jobs pass"
job long --time 1h --mem 7GiB -- alloc --mib 10 --hold
wait_for 20 is_ready long
job large --wait --mem 15GiB -- true
wait_for 20 is_queued '["large"]'
expect_error 'large\) waits and comes first' cgpuctl run --mem 256MiB -- true
expect_error 'large\) waits and comes first' cgpuctl run --time 2h --mem 256MiB -- true
expect cgpuctl stop second -q
starts_within() { cgpuctl queue --json | jq '.[0].starts_within_seconds // 0'; }
is_known() { [[ $(starts_within) != 0 ]]; }
wait_for 20 is_known
expect_between "seconds until it starts" "$(starts_within)" 3000 3640
expect cgpuctl run --time 10m --mem 256MiB -- true
expect_equal "the queue" "$(queued)" '["large"]'
kill -KILL "${pids[large]}"
wait_for 20 is_queued '[]'
end_job long
job second --mem 8GiB -- alloc --mib 10 --hold
wait_for 20 is_ready second

echo "a GPU that is drained, a limit and a closed gate are waited for, too"
expect cgpuctl drain node -q
job drained --wait --mem 1GiB -- true
wait_for 20 is_queued '["drained"]'
cgpuctl queue | grep -qE "aren't drained" || fail "queue: $(cgpuctl queue)"
expect cgpuctl undrain node -q
wait "${pids[drained]}" || fail "drained: $(cat "$scratch/drained.err")"

echo "cgpud ends while requests leave"
for i in $(seq 20); do job "leaves$i" --wait --mem 15GiB -- true; done
all_wait() { [[ $(cgpuctl queue --json | jq length) == 20 ]]; }
wait_for 20 all_wait
for i in $(seq 20); do kill -KILL "${pids[leaves$i]}"; done 2>/dev/null
expect lab-restart-cgpud
wait_for 20 nothing_left

echo "many come and go"
for i in $(seq 30); do job "many$i" --wait --mem 6GiB -- true; done
end_job second
for i in $(seq 30); do
    wait "${pids[many$i]}" || fail "many$i: $(cat "$scratch/many$i.err")"
done
wait_for 10 nothing_left
wait_for 10 none_listed
expect_equal "objects of instances" "$(instances_on_bus)" 0
