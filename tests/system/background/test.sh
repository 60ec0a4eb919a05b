# A job whose first process ends while others of it continue, as when it goes to the background: it keeps its instance until
# the last of them has ended, connected or not, and over a restart of cgpud.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

# process_of NAME: the process that the instance lives with, by cgpud.
process_of() {
    cgpuctl list --json | jq --arg name "$1" '.[] | select(.name == $name).pid'
}
lives_with() { # NAME PID
    [[ $(process_of "$1") == "$2" ]]
}

# It is no longer a child of the job, has a session of its own, and has not called the driver yet.
job early -- bash -c 'setsid --fork bash -c "echo \$\$ >\"\$0.pid\"
    until [[ -e \$0.go ]]; do sleep 0.05; done
    exec alloc --mib 100 --until-fail --hold >\"\$0.alloc\"" "$0"
    until [[ -s $0.pid ]]; do sleep 0.05; done' "$scratch/early"
wait "${pids[early]}"
expect_equal "exit status of a job that goes to the background" $? 0
early=$(cat "$scratch/early.pid")
wait_for 10 lives_with early "$early"

echo "A restart of cgpud, while nobody of it is connected."
expect lab-restart-cgpud --kill
expect_equal "the process after the restart" "$(process_of early)" "$early"

touch "$scratch/early.go"
wait_for 20 has "$scratch/early.alloc" '^ready'
expect_equal "an allocation too much" "$(fact "$scratch/early.alloc" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
expect_between "bytes held in the background" "$(held "$early")" $((3600 * 1024 * 1024)) "$limit_of_four"

echo "One that computes already, and another that goes with the first: the instance has the one that is left."
job late -- bash -c 'burn --forever >"$0.burn" & echo $! >"$0.pid"
    sleep 1000 & echo $! >"$0.other"
    until grep -q ^ready "$0.burn"; do sleep 0.05; done' "$scratch/late"
wait "${pids[late]}"
pids[burning]=$(cat "$scratch/late.pid")
kill -KILL "$(cat "$scratch/late.other")"
wait_for 10 lives_with late "${pids[burning]}"
computes burning

kill -TERM "${pids[burning]}"
wait_for 10 eval '[[ -z $(process_of late) ]]'
expect_equal "the other instance" "$(process_of early)" "$early"
kill -KILL "$early"
wait_for 10 none_listed
wait_for 5 nothing_held

echo "Whose processes all end together is gone at once, and was not handed on."
job together -- bash -c 'for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done; echo ready; wait'
wait_for 20 is_ready together
mapfile -t children < <(pgrep -P "${pids[together]}")
expect_equal "its children" "${#children[@]}" 8
kill -KILL "${pids[together]}" "${children[@]}"
wait_for 10 none_listed
expect_equal "instances handed on" "$(lab-log | grep -c 'goes on with process')" 2

echo "A killed script leaves its command behind, which doesn't use the GPU: the instance is gone, and one that does use it stays."
job script -- bash -c 'trap "" HUP; sleep 1000; true'
wait_for 20 eval '[[ -n $(pgrep -P "${pids[script]}") ]]'
left=$(pgrep -P "${pids[script]}")
kill -TERM "${pids[script]}"
wait "${pids[script]}"
# The kernel says how a process ended from 6.15 on.
if [[ $(printf '%s\n' 6.15 "$(uname -r)" | sort -V | head -1) == 6.15 ]]; then
    wait_for 10 none_listed
    expect kill -0 "$left"
fi
kill "$left"
wait_for 10 none_listed
job using -- bash -c 'burn --forever >"$0.burn" & echo $! >"$0.pid"; wait' "$scratch/using"
wait_for 20 has "$scratch/using.burn" '^ready'
kill -TERM "${pids[using]}"
wait "${pids[using]}"
wait_for 10 lives_with using "$(cat "$scratch/using.pid")"
kill -TERM "$(cat "$scratch/using.pid")"
wait_for 10 none_listed
