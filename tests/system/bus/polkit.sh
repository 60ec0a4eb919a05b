# A real polkit on the node's bus, and cgpud as the user of its unit (polkit answers only root and the owner of an action
# about other users): polkit decides what users other than root may do, and everything else continues while it is asked.
# ../systemd/polkit.sh checks the same with Debian's service.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/polkit_lib.sh"
find_polkit
expect cgpud_as_cgpu
expect_equal "cgpud's user" "$(stat -c %U "/proc/$(cat "$CGPU_LAB/cgpud.pid")")" cgpu

# Without polkit only root may.
expect_error 'only root may where there is no polkit' as_user cgpuctl set-policy 0 weighted
expect cgpuctl set-policy 0 preemptive -q
start_polkit
what_polkit_decides

# What polkit is asked, as the bus sees it.
busctl --json=short monitor org.freedesktop.PolicyKit1 >"$scratch/asked" 2>/dev/null &
monitor=$!
listens() { polkit_answers && has "$scratch/asked" '"Ping"'; }
wait_for 10 listens
# asks_and_waits: a user's change waits for polkit, which is stopped; $late is the waiting process.
asks_and_waits() {
    local before
    before=$(grep -c '"CheckAuthorization"' "$scratch/asked")
    kill -STOP "$polkit"
    as_user cgpuctl set-policy 0 fixed 2>"$scratch/late" &
    late=$!
    asked_again() { (($(grep -c '"CheckAuthorization"' "$scratch/asked") > before)); }
    wait_for 10 asked_again
}

# It doesn't answer: all others are answered meanwhile, and the waiting call when it resumes.
asks_and_waits
for _ in {1..20}; do expect quietly cgpuctl status; done
expect quietly as_user cgpuctl list
expect cgpuctl set-policy 0 weighted -q
kill -0 "$late" || fail "it was answered without polkit: $(cat "$scratch/late")"
kill -CONT "$polkit"
wait "$late"
expect_equal "exit code" $? 77

# A process that is to be attached ends while polkit is asked, and another process of the same user gets its pid: the answer isn't
# applied to that one.
CGPU_MEM=2GiB cgpuctl run --name roots -- alloc --mib 100 --hold >"$scratch/roots.out" 2>&1 </dev/null &
pids[roots]=$!
wait_for 20 is_ready roots
roots=$(cgpuctl list -q)
lives_with() { cgpuctl show roots --json | jq .pid; }
before=$(lives_with)
allow org.cgpu1.manage-instance
wait_for 10 quietly as_user cgpuctl set-memory roots 3GiB
setpriv --reuid=$user --regid=nogroup --clear-groups sleep 1000 &
process=$!
asked=$(grep -c '"CheckAuthorization"' "$scratch/asked")
kill -STOP "$polkit"
as_user busctl --timeout=60 call org.cgpu1 /org/cgpu1 org.cgpu1.Manager Attach 'sua{sv}' "$roots" $process 0 >"$scratch/attach" 2>&1 &
late=$!
asked_for_it() { (($(grep -c '"CheckAuthorization"' "$scratch/asked") > asked)); }
wait_for 10 asked_for_it
kill -KILL $process
wait $process 2>/dev/null
# The kernel gives the next process the pid after this one.
echo $((process - 1)) >/proc/sys/kernel/ns_last_pid 2>/dev/null
setpriv --reuid=$user --regid=nogroup --clear-groups sleep 1000 &
again=$!
if [[ $again == "$process" ]]; then
    kill -CONT "$polkit"
    wait $late && fail "the answer was applied to a process that has the pid again"
    expect has "$scratch/attach" "process $process: it has ended"
    expect_equal "the process that the job lives with" "$(lives_with)" "$before"
else
    echo "the pid was not given again here"
    kill -CONT "$polkit"
    wait $late && fail "the answer was applied to a process that has ended"
fi
kill -KILL $again
wait $again 2>/dev/null
kill -TERM "${pids[roots]}"
wait "${pids[roots]}"
wait_for 10 none_listed
rm $rules/10-cgpu-test.rules

# It dies while it is asked.
asks_and_waits
kill -KILL "$polkit"
wait "$polkit" 2>/dev/null
wait "$late"
expect_equal "exit code" $? 77
expect has "$scratch/late" 'polkit was asked about user id [0-9]+ and gave no answer'
expect_equal "policy" "$(cgpuctl status --json | jq -r '.gpus[0].policy_name')" weighted
kill "$monitor"
