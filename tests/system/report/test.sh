# cgpuctl report: who had the GPUs, from cgpud's history on the disk, judged by the GPUs' own ledger: GPU time within 1 %, bytes
# exactly. It survives restarts and the kill of cgpud, which loses an interval at most, a full ring, and damage on the disk.
. "$(dirname "$0")/../lib.sh"
. "$CGPU_LAB/cgpud.sh"
here=$(cd "$(dirname "$0")" && pwd)
asks=("${four_of_15[@]}")
ring=/var/lib/cgpu/history
mkdir -p /etc/cgpu
printf 'history_mib: 1\nhistory_interval_s: 1\n' >/etc/cgpu/cgpud.yaml
expect lab-restart-cgpud

# report OPTION…: its JSON into $scratch/report.
report() { expect cgpuctl report "$@" --json >"$scratch/report"; }
# of NAME FIELD: of the row of the last report.
of() { jq --arg name "$1" --arg field "$2" '.rows[] | select((.name // .gpu) == $name)[$field]' "$scratch/report"; }
# GPU time of ended processes, too: seconds and the largest number of bytes by the ledger.
used() { ledger '[.processes[] | select(.own_pid == $pid).gpus[] | select(.gpu == $gpu).gpu_ns] | add / 1e9' --argjson pid "$1" --argjson gpu "$2"; }
peak() { ledger '[.processes[] | select(.own_pid == $pid).gpus[].peak_bytes] | max' --argjson pid "$1"; }
# expect_billed NAME GPU: what the report has is what the job's process had, within 1 % and 0.1 s (the last work of a process may
# be unmeasured). Where the machine has no free core for the job, turns that it couldn't use are billed, too.
expect_billed() {
    local had billed
    had=$(used "${pids[$1]}" "$2")
    billed=$(of "$1" gpu_seconds)
    echo "$1: billed $billed s (reported $(of "$1" reported_seconds), granted $(of "$1" granted_seconds)), the ledger has $had s"
    expect_between "GPU seconds that $1 reported" "$(of "$1" reported_seconds)" "$(jq -n "$had * 0.99 - 0.1")" \
        "$(jq -n "$had * 1.01 + 0.1")"
    expect_between "GPU seconds of $1" "$billed" "$(of "$1" reported_seconds)" "$(jq -n "$had * 1.05 + 0.1")"
}

echo "GPU time, shares, peaks and refusals are those of the ledger."
expect cgpuctl set-policy 0 weighted
expect cgpuctl set-policy 1 weighted
job one --gpus 0 --weight 1 -- burn --seconds 10 --kernel-us 1000
job three --gpus 0 --weight 3 -- burn --seconds 10 --kernel-us 1000
job alone --gpus 1 -- burn --seconds 6 --kernel-us 5000
job large --gpus 1 -- alloc --mib 700 --hold
wait_for 20 is_ready large
wait_for 5 is_counted large 1
end_job large
job full --gpus 1 -- alloc --mib 100 --until-fail --hold
wait_for 20 is_ready full
wait_for 5 is_counted full 1
end_job full
for name in one three alone; do
    wait "${pids[$name]}"
    expect_equal "exit status of $name" $? 0
done
wait_for 5 none_listed
report
expect_billed one 0
expect_billed three 0
expect_billed alone 1
for name in large full; do
    expect_equal "peak of $name" "$(of $name memory_peak_bytes)" "$(peak "${pids[$name]}")"
    expect_equal "limit of $name" "$(of $name memory_limit_bytes)" "$limit_of_four"
done
expect_equal "refused allocations" "$(of full allocations_refused) $(of large allocations_refused)" '1 0'
# Each was alone for a moment, at its beginning or at its end.
expect_between "share due to one" "$(of one share_due)" 0.2 0.32
expect_between "share due to three" "$(of three share_due)" 0.68 0.8
expect_between "part of one in what both got" "$(jq -n "$(of one share_got) / ($(of one share_got) + $(of three share_got))")" 0.21 0.3
by_gpu=$(jq '[.rows[].gpu_seconds] | add' "$scratch/report")
report --by gpu
total=$(jq '[.rows[].gpu_seconds] | add' "$scratch/report")
expect_between "sum by GPU" "$total" "$(jq -n "$by_gpu - 0.001")" "$(jq -n "$by_gpu + 0.001")"
had=$(ledger '[.processes[].gpus[] | select(.gpu == 0).gpu_ns] | add / 1e9')
expect_between "GPU 0" "$(of 0 reported_seconds)" "$(jq -n "$had * 0.99 - 0.2")" "$(jq -n "$had * 1.01 + 0.2")"
report --by day --since yesterday
expect_between "sum by day" "$(jq '[.rows[].gpu_seconds] | add' "$scratch/report")" "$(jq -n "$total - 0.001")" "$(jq -n "$total + 0.001")"

echo "All forms can be read by others."
expect cgpuctl report --csv >"$scratch/report.csv"
expect cgpuctl report --svg "$scratch/report.svg" >"$scratch/table"
expect has "$scratch/table" '^three  +root +1 +0 +[0-9.]+s +[0-9.]+% +[0-9.]+% '
expect python3 "$here/forms.py" "$scratch/report.csv" "$scratch/report.svg" one three alone large full
expect setpriv --reuid=65534 --regid=65534 --clear-groups cgpuctl report --no-legend >"$scratch/table"
expect_equal "lines for anybody" "$(wc -l <"$scratch/table")" 5
expect_error 'it is none of name, gpu, day and user' cgpuctl report --by hour

echo "Several processes are billed for their time once, and a kernel that a kill cuts off for what it ran."
on_gpu_1() { ledger '[.processes[].gpus[] | select(.gpu == 1).gpu_ns] | add / 1e9'; }
# expect_had NAME SECONDS: what the report has of a job that was alone on GPU 1, where the ledger had so much before it.
expect_had() {
    local had
    had=$(jq -n "$(on_gpu_1) - $2")
    report
    echo "$1: billed $(of "$1" gpu_seconds) s, the ledger has $had s"
    expect_between "GPU seconds of $1" "$(of "$1" gpu_seconds)" "$(jq -n "$had * 0.95 - 0.1")" "$(jq -n "$had * 1.05 + 0.2")"
}
before=$(on_gpu_1)
job several --gpus 1 -- sh -c 'for _ in 1 2 3 4; do burn --seconds 4 --kernel-us 1000 >/dev/null & done; wait'
wait "${pids[several]}"
wait_for 5 none_listed
expect_had several "$before"
before=$(on_gpu_1)
job cut --gpus 1 -- burn --forever --kernel-us 60000000
wait_for 20 is_ready cut
sleep 3
kill -KILL "${pids[cut]}"
wait "${pids[cut]}" 2>/dev/null
wait_for 5 none_listed
expect_had cut "$before"

echo "A restart loses nothing, the kill of cgpud an interval at most, and nothing is counted twice."
job long --gpus 0 -- burn --forever --kernel-us 1000
wait_for 20 is_ready long
sleep 3
before=$(used "${pids[long]}" 0)
expect lab-restart-cgpud
back=$(used "${pids[long]}" 0)
wait_for 10 computes long
sleep 3
expect lab-restart-cgpud --kill
again=$(used "${pids[long]}" 0)
wait_for 10 computes long
sleep 2
end_job long
wait_for 5 none_listed
report
had=$(used "${pids[long]}" 0)
# What a job computes while there is no cgpud isn't recorded.
away=$(jq -n "$back - $before")
echo "long: billed $(of long gpu_seconds) s, the ledger has $had s, $away s of them around the restart; killed before $again s"
expect_between "GPU seconds of long" "$(of long gpu_seconds)" "$(jq -n "$had * 0.99 - $away - 1.1 - 1.5")" "$(jq -n "$had * 1.01")"
expect_billed three 0

echo "The ring wraps, and keeps the newest records."
stop_cgpud TERM
expect python3 "$here/ring.py" fill "$ring" 2047
start_cgpud || fail 'cgpud did not start'
expect_equal "records of the full ring" "$(python3 "$here/ring.py" count "$ring" old)" 2047
for turn in 1 2 3; do
    job "turn$turn" --gpus 0 -- burn --seconds 2 --kernel-us 1000
    wait "${pids[turn$turn]}"
done
wait_for 5 none_listed
new=$(python3 "$here/ring.py" count "$ring" turn)
expect_between "new records" "$new" 6 40
expect_equal "old records" "$(python3 "$here/ring.py" count "$ring" old)" $((2047 - new))
expect_equal "bytes of the ring" "$(stat -c %s "$ring")" 1048576
report --since 10min
for turn in 1 2 3; do expect_billed "turn$turn" 0; done

echo "Damage on the disk costs the records that it hit."
stop_cgpud TERM
kept=$(python3 "$here/ring.py" count "$ring" turn)
expect python3 "$here/ring.py" damage "$ring"
start_cgpud || fail 'cgpud did not start'
wait_for 5 in_log 'history.*2 damaged or missing records were left out'
expect_equal "records after the damage" "$(python3 "$here/ring.py" count "$ring" turn)" "$kept"
expect_equal "old records after the damage" "$(python3 "$here/ring.py" count "$ring" old)" $((2047 - new - 2))
stop_cgpud TERM
printf 'no history\n%.0s' {1..500} >"$ring"
start_cgpud || fail 'cgpud did not start'
expect has "$ring.damaged" '^no history'
expect cgpuctl report >"$scratch/table"
expect has "$scratch/table" '^turn1 ' # by the sums of the day
stop_cgpud TERM
rm "$ring" "$ring-days"
start_cgpud || fail 'cgpud did not start'
expect cgpuctl report >"$scratch/table" 2>"$scratch/warned"
expect has "$scratch/warned" 'no records yet'

echo "Without a history that is said, and everything else goes on."
printf 'history_mib: 0\n' >/etc/cgpu/cgpud.yaml
expect lab-restart-cgpud
expect_error 'history_mib is 0.*Try: ' cgpuctl report
expect_equal "the key" "$(cgpuctl config --json | jq -r '.[] | select(.key == "history_mib").value')" 0
