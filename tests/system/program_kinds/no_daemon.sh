# Without cgpud a program gets an error after a bounded wait, never a hang, an exit or memory that it wasn't granted; with the
# next cgpud it continues. Without a link it gets the error at once.
. "$(dirname "$0")/lib.sh"

# told NAME: makes the program try; its new lines are in $scratch/NAME.said.
ask_all() { # NAME…
    local name
    for name in "$@"; do
        wc -l <"$scratch/$name.out" >"$scratch/$name.before"
        kill -USR1 "${pids[$name]}"
    done
    for name in "$@"; do
        wait_for 30 has_answered "$name"
        tail -n "+$(($(cat "$scratch/$name.before") + 1))" "$scratch/$name.out" >"$scratch/$name.said"
    done
}
has_answered() {
    kill -0 "${pids[$1]}" || fail "$1 has ended"
    tail -n "+$(($(cat "$scratch/$1.before") + 1))" "$scratch/$1.out" | grep -q '^done'
}
# said NAME INIT ALLOC: the codes; ALLOC is '' if it didn't get so far.
said() {
    expect_equal "cuInit of $1" "$(fact "$scratch/$1.said" init)" "$2"
    expect_equal "cuDeviceTotalMem of $1" "$(fact "$scratch/$1.said" total)" "$2"
    expect_equal "cuMemAlloc of $1" "$(fact "$scratch/$1.said" alloc)" "$3"
}
not_ready=802 # CUDA_ERROR_SYSTEM_NOT_READY

job early --mem 1GiB -- "$kinds/patient"
job late --mem 1GiB -- "$kinds/patient"
job unlinked --mem 1GiB -- unshare --mount bash -c 'mkdir "$0" && mount -t tmpfs none "$0" && mkdir "$0/module" &&
    mount --rbind /run/cgpu/module "$0/module" &&
    mount --rbind "$0" /run/cgpu && exec "$1"' "$CGPU_LAB/no-link" "$kinds/patient"
for name in early late unlinked; do wait_for 10 is_ready $name; done

ask_all early unlinked
said early 0 0
said unlinked $not_ready ''
held_before=$(held "${pids[early]}")

# cgpud is running and silent, or not running. The lease has no room for more, so cgpud would have to be asked.
cgpud=$(cat "$CGPU_LAB/cgpud.pid")
for signal in STOP KILL; do
    kill -$signal "$cgpud"
    ask_all early late
    said early 0 2
    said late $not_ready ''
    expect_equal "bytes of early after $signal" "$(held "${pids[early]}")" "$held_before"
done

expect lab-restart-cgpud --kill
ask_all early late
said early 0 0
said late 0 0
for name in early late unlinked; do end_job $name; done
wait_for 10 none_listed
wait_for 5 nothing_held
