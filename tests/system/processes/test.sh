# NVML's list in a job: the job's own processes, by the pids that the calling process sees, with the charge of each; no
# others. On the node it lists all, as without cgpu.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

# listed COMMAND…: what `processes` lists on the first GPU, run behind the command: `PID BYTES` a line.
listed() {
    "$@" processes >"$scratch/listed" || fail "processes failed: $(cat "$scratch/listed")"
    expect_equal "what went wrong with the lists" "$(grep -E 'error|differ' "$scratch/listed")" ''
    fact "$scratch/listed" device.0.process
}
in_job() { # NAME COMMAND…
    nsenter --mount --target "${pids[$1]}" "${@:2}"
}
used() { # NAME
    cgpuctl list --json | jq --arg name "$1" '.[] | select(.name == $name).gpus[0].memory_used_bytes'
}
# settled NAME PID…: cgpud has the figures of the contexts, too, and they don't change between two lists.
settled() {
    local pid sum=0
    for pid in "${@:2}"; do sum=$((sum + $(held "$pid"))); done
    [[ $(used "$1") == "$sum" ]]
}
lists_one() { # NAME
    [[ $(listed in_job "$1" | wc -l) == 1 ]]
}

job red -- bash -c 'alloc --mib 300 --hold >"$0.second" & echo $! >"$0.pid"
    until grep -q ready "$0.second"; do sleep 0.05; done
    exec alloc --mib 100 --hold' "$scratch/red"
job blue -- burn --forever
for name in red blue; do wait_for 20 is_ready "$name"; done
second=$(cat "$scratch/red.pid")

echo "Each job lists its own processes."
wanted=$(for pid in "${pids[red]}" "$second"; do echo "$pid $(held "$pid")"; done | sort -n)
wait_for 10 eval '[[ $(listed in_job red) == "$wanted" ]]' # the figures of contexts settle
expect_equal "their bytes together" "$(listed in_job red | awk '{ sum += $2 } END { print sum }')" "$(used red)"
expect_equal "processes that blue lists" "$(listed in_job blue)" "${pids[blue]} $(used blue)"
expect_equal "processes that compute in blue" "$(listed in_job blue >/dev/null
    fact "$scratch/listed" device.0.utilization | cut -d ' ' -f 1)" "${pids[blue]}"
expect_equal "processes that the node lists" "$(listed env | cut -d ' ' -f 1 | xargs)" \
    "$(printf '%s\n' "${pids[@]}" "$second" | sort -n | xargs)"

echo "One ends, and is listed no more."
kill -TERM "$second"
wait_for 10 lists_one red
expect_equal "process that is left" "$(listed in_job red | cut -d ' ' -f 1)" "${pids[red]}"

echo "In a pid namespace of their own processes have other pids, and don't see those outside."
job mixed -- bash -c 'unshare --pid --fork --kill-child --mount-proc alloc --mib 100 --hold >"$0.inner" &
    until grep -q ready "$0.inner"; do sleep 0.05; done
    exec alloc --mib 100 --hold' "$scratch/mixed"
wait_for 20 is_ready mixed
unshare=$(pgrep -P "${pids[mixed]}" -x unshare)
inside=$(pgrep -P "$unshare")
wait_for 10 settled mixed "${pids[mixed]}" "$inside"
expect_equal "processes listed above" "$(listed in_job mixed | cut -d ' ' -f 1 | xargs)" \
    "$(printf '%s\n' "${pids[mixed]}" "$inside" | sort -n | xargs)"
expect_equal "processes listed within" "$(listed nsenter --mount --pid --target "$inside" | cut -d ' ' -f 1)" 1

end_job red
end_job blue
kill -TERM "${pids[mixed]}" "$inside"
wait_for 10 none_listed
wait_for 10 nothing_held
