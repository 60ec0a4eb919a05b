# The members of a link, and how an instance that floods cgpud affects a neighbour: under a booted systemd, with its watchdog.
. "$(dirname "$0")/../lib.sh"

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
restarts() { systemctl show cgpud --property NRestarts --value; }
pid_of_cgpud() { systemctl show cgpud --property MainPID --value; }
was_restarts=$(restarts) was_pid=$(pid_of_cgpud)

# leased NAME: bytes that processes of the job have leased.
leased() {
    cgpuctl list --json | jq --arg name "$1" '.[] | select(.name == $name).gpus[0].memory_leased_bytes'
}
# ticks: CPU time of cgpud, in clock ticks (10 ms).
ticks() { awk '{ print $14 + $15 }' "/proc/$(pid_of_cgpud)/stat"; }

# --- The members of a link. A job of root's, and its socket as it is on the host.
job victim --mem 2GiB -- burn --forever --kernel-us 1000
wait_for 20 is_ready victim
id=$(cgpuctl list -q)
socket=/run/cgpu/instances/$id/link/socket
expect test -S "$socket"
before=$(leased victim)
# A stranger can't reach it, nor a list of the folders.
expect_error 'Permission denied' as_nobody ls "/run/cgpu/instances/$id"
expect_error 'Permission denied' as_nobody peer --do hello --socket "$socket"
# A process that reaches it all the same, as root can, isn't one of the job's.
expect_error '^refused' peer --do hello --socket "$socket" --bytes $((1024 * 1024 * 1024))
expect in_log 'does not belong to this instance'
expect_equal "bytes leased by the job" "$(leased victim)" "$before"
# A process of the job is a member, whatever user it runs as.
job other --mem 1GiB -- setpriv --reuid=65534 --regid=65534 --clear-groups peer --do hello
wait "${pids[other]}"
expect_equal "what a job of nobody's own got" "$(head -n 1 "$scratch/other.out")" welcomed
end_job victim
wait_for 10 none_listed

# --- The effect on a neighbour. First of programs that keep the CPUs as busy without calling cgpud.
# felt NAME KEY: by the neighbour, in microseconds.
felt() { fact "$scratch/$1.out" "$2"; }
neighbour() { # NAME
    job "$1" --mem 1GiB -- peer --do time --seconds 5
    wait "${pids[$1]}" || fail "the neighbour's leases failed: $(cat "$scratch/$1.out" "$scratch/$1.err")"
    echo "$1: median $(felt "$1" median_us) us, 90 %: $(felt "$1" p90_us) us, most: $(felt "$1" most_us) us"
}
job spinner --mem 1GiB -- peer --do spin --processes 100 --seconds 60
wait_for 20 is_ready spinner
neighbour beside_spinning
kill -KILL "${pids[spinner]}"

job flooder --mem 1GiB -- peer --do flood --processes 100 --connections 4 --seconds 60
wait_for 20 is_ready flooder
neighbour beside_flood
expect_between "90 % of the neighbour's leases beside a flood, in us" "$(felt beside_flood p90_us)" 0 20000
list_took() {
    local began=${EPOCHREALTIME/./}
    cgpuctl list >/dev/null
    echo $((${EPOCHREALTIME/./} - began))
}
slowest=0
for _ in 1 2 3 4 5; do
    took=$(list_took)
    ((took < slowest)) || slowest=$took
done
echo "cgpuctl list beside the flood: at most $slowest us"
expect_between "the slowest cgpuctl list beside a flood, in us" "$slowest" 0 1000000
kill -KILL "${pids[flooder]}"
wait_for 20 none_listed

# --- A doorbell that is rung without pause.
job ringer --mem 1GiB -- peer --do ring --seconds 60
wait_for 20 is_ready ringer
began=$(ticks)
sleep 5
rung=$(($(ticks) - began))
echo "cgpud beside a doorbell that is rung without pause: $((rung / 5)) % of a processor"
expect_between "cgpud's part of a processor beside such a doorbell, in per cent" "$(jq -n "$rung / 5")" 0 6
kill -KILL "${pids[ringer]}"
wait_for 20 none_listed

# --- The service has survived it.
expect_equal "cgpud" "$(restarts) $(pid_of_cgpud)" "$was_restarts $was_pid"
