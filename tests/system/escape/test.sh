# Memory that a program takes without the module: it counts as its instance's, is found within seconds, and then on_escape is
# applied. The honest jobs beside it are neither affected nor named, whatever they load. Every way
# under each on_escape: ways.sh.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/found.sh"
mib=$((1024 * 1024))

# figure NAME KEY: of the job, by cgpuctl.
figure() {
    cgpuctl list --json | jq --arg name "$1" ".[] | select(.name == \$name).gpus[0].$2"
}
has_unexplained() { # NAME
    [[ $(figure "$1" memory_unexplained_bytes) != 0 ]]
}
told_of() { # PID
    was_found "$1" "$unexplained"
}
# found NAME TEXT: the job's process, in time.
found() {
    local ms
    ms=$(took "$1" "${pids[$1]}" "$2") || fail "$1 was not found"
    expect_in_time "$1" "$ms"
}

# A job without any process that connects to cgpud, alone on the node: found under each on_escape, shown, and killed under the
# last one.
for word in report refuse kill; do
    policy "$word"
    job alone --mem 1GiB -- escape --mib 5000
    found alone "$outside"
    if [[ $word != kill ]]; then
        found alone "$unexplained"
        wait_for 5 has_unexplained alone
        wait_for 20 is_ready alone
        expect_equal "unexplained memory of alone" "$(figure alone memory_unexplained_bytes)" "$(held "${pids[alone]}")"
        expect_equal "memory of alone in use" "$(figure alone memory_used_bytes)" "$(held "${pids[alone]}")"
        expect_equal "outside the module" "$(figure alone processes_outside | tr -d ' \n')" "[${pids[alone]}]"
        expect has <(cgpuctl list) 'alone .*unexplained, 1 process outside the module\)'
        expect has <(cgpuctl show alone) "^Outside the module: +${pids[alone]}"
        end_job alone
    else
        wait_for 4 gone "${pids[alone]}"
        wait "${pids[alone]}"
        expect_equal "exit status of alone" $? 137
    fi
    wait_for 10 none_listed
done

job plain --mem 1GiB -- alloc --mib 512 --hold
wait_for 20 is_ready plain
for how in module library heap; do
    job "$how" --mem 512MiB -- alloc --how "$how" --mib 200 --hold
    wait_for 20 is_ready "$how"
done

# Memory that two processes share, a limit that is used up, and contexts up to the limit.
job shared --mem 1GiB -- shared --mib 256
job full --mem 512MiB -- alloc --mib 16 --until-fail --hold
job contexts --mem 1GiB -- alloc --how context --mib 1 --until-fail --hold
# Local memory that the driver takes at a launch without being asked, most of the limit, and the rest of it used up.
job local --mem 1GiB -- alloc --local-mib 480 --mib 16 --until-fail --hold
for name in shared full contexts local; do wait_for 20 is_ready "$name"; done

# expect_honest: they are as they were.
expect_honest() {
    local name
    for name in plain module library heap shared full contexts local; do
        expect is_ready "$name"
        expect_equal "unexplained memory of $name" "$(figure "$name" memory_unexplained_bytes)" 0
        expect_equal "processes of $name outside the module" "$(figure "$name" processes_outside)" '[]'
        if told_of "${pids[$name]}"; then fail "the honest job $name is named in the log"; fi
    done
    expect_equal "bytes of the honest job" "$(held "${pids[plain]}")" "$plain_bytes"
}
plain_bytes=$(held "${pids[plain]}")
for name in module library heap; do
    expect_between "bytes of the honest job $name" "$(held "${pids[$name]}")" $((300 * mib)) $((400 * mib))
done
expect_between "bytes of the honest job local" "$(held "${pids[local]}")" $((940 * mib)) $((1024 * mib))

# report: counted to the byte, and shown; the part that the new context explains is known less exactly.
policy report
job past --mem 4GiB -- escape --connected --mib 1024
wait_for 20 is_ready past
found past "$unexplained"
wait_for 5 has_unexplained past
bytes=$(figure past memory_unexplained_bytes)
expect_between "unexplained bytes" "$bytes" $((512 * mib)) $((1024 * mib))
expect has <(cgpuctl list) 'past .*\([0-9.]+MiB unexplained\)'
expect has <(cgpuctl show past) '^Memory: .*\([0-9.]+MiB unexplained\)'
expect_equal "used bytes of past" "$(figure past memory_used_bytes)" "$(held "${pids[past]}")"
echo "report: $(held "${pids[past]}") bytes held, $bytes unexplained"
expect_honest
end_job past
wait_for 5 in_log "process ${pids[past]}: its unexplained memory on GPU-[^ ]+ is gone"

# Without any connection, in a child: the instance of the process is known all the same, even beyond the limit.
policy refuse
job past --mem 4GiB -- bash -c 'escape --mib 5000 >"$0.child" & echo $! >"$0.pid"
    until grep -q ready "$0.child"; do sleep 0.05; done
    until [ -e "$0.go" ]; do sleep 0.05; done
    alloc --mib 16
    echo ready
    kill "$!"; wait "$!"
    exec alloc --mib 16 --hold' "$scratch/past"
wait_for 20 has "$scratch/past.child" '^ready'
child=$(cat "$scratch/past.pid")
wait_for 20 told_of "$child"
echo "refuse: the child holds $(held "$child") bytes without a word"
expect_equal "unexplained memory of past" "$(figure past memory_unexplained_bytes)" "$(held "$child")"
expect_honest
: >"$scratch/past.go"
wait_for 20 has "$scratch/past.out" '^ready'
expect_equal "what the instance gets meanwhile" "$(fact "$scratch/past.out" error)" \
    "cuDevicePrimaryCtxRetain 2 CUDA_ERROR_OUT_OF_MEMORY"
wait_for 20 has "$scratch/past.out" '^result 0 CUDA_SUCCESS'
expect_equal "the instance's unexplained memory afterwards" "$(figure past memory_unexplained_bytes)" 0
expect_honest
end_job past

# kill: the process that holds it, and no other.
policy kill
job past --mem 4GiB -- bash -c 'alloc --mib 64 --hold >"$0.child" & escape --connected --mib 1024; echo "status $?"; wait' "$scratch/past"
wait_for 20 has "$scratch/past.out" '^status 137'
wait_for 20 has "$scratch/past.child" '^ready'
expect_honest
expect_between "bytes that the instance still holds" "$(figure past memory_used_bytes)" $((64 * mib)) $((200 * mib))
echo "kill: $(figure past memory_used_bytes) bytes are left to the instance"

# Announcements without end don't hide anything: twice the announced size is explained, once.
for word in report refuse kill; do
    policy "$word"
    job talker --mem 1GiB -- escape --connected --talk --mib 3284
    found talker "$unexplained"
    if [[ $word != kill ]]; then
        echo "$word: $(figure talker memory_unexplained_bytes) of $(held "${pids[talker]}") bytes of the talker are unexplained"
        end_job talker
    else
        wait_for 4 gone "${pids[talker]}"
        wait "${pids[talker]}"
        expect_equal "exit status of talker" $? 137
    fi
    expect_honest
done
