# What may be billed beside GPU time: memory over the time (granted and used), starts, refused requests, by owner, name, GPU and
# day. Judged by the simulator's trace of what each process held, and by the clock. It holds over kills of cgpud, after the records
# of single intervals are overwritten, and where they are lost: then by the sums of the days.
. "$(dirname "$0")/../lib.sh"
. "$CGPU_LAB/cgpud.sh"
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /etc/cgpu
printf 'history_mib: 1\nhistory_interval_s: 1\n' >/etc/cgpu/cgpud.yaml
expect lab-restart-cgpud

report() { expect cgpuctl report "$@" --json >"$scratch/report"; }
# sum FIELD [JQ_CONDITION]: over the rows of the last report.
sum() { jq "[.rows[] | select(${2:-true}).$1] | add // 0" "$scratch/report"; }
within() { # WHAT FIGURE DUE PERCENT
    expect_between "$1" "$2" "$(jq -n "$3 * (1 - $4 / 100)")" "$(jq -n "$3 * (1 + $4 / 100)")"
}

echo "Memory over the time, as used and as granted, is that of the trace and of the clock."
expect simgpu trace --start
began=$(date +%s.%N)
job big --mem 4GiB --gpus 0 -- alloc --mib 3000 --hold
job small --mem 1GiB --gpus 1 -- alloc --mib 100 --hold
job idle --mem 2GiB --gpus 1 -- sleep 60
wait_for 20 is_ready big
wait_for 20 is_ready small
running=$(date +%s.%N)
sleep 6
changed=$(date +%s.%N)
expect cgpuctl set-memory -q idle 4GiB
sleep 6
for name in big small; do end_job "$name"; done
kill "${pids[idle]}"
wait "${pids[idle]}"
wait_for 10 none_listed
ended=$(date +%s.%N)
expect simgpu trace >"$scratch/trace"
# Of those that used nothing, at the end of the interval; of those that did, at once.
has_idle() { report && [[ $(sum starts) == 3 ]]; }
wait_for 15 has_idle
cat "$scratch/report" | jq -c '.rows[] | [.name, .memory_used_gib_hours, .memory_granted_gib_hours]'
for name in big small; do
    used=$(expect python3 "$here/memory_hours.py" "$scratch/trace" "${pids[$name]}")
    echo "$name: the trace has $used GiB hours"
    # What a process holds is known at each of its asks; its end is seen within some milliseconds.
    within "GiB hours used by $name" "$(sum memory_used_gib_hours ".name == \"$name\"")" "$used" 1
done
expect_equal "GiB hours used by idle" "$(sum memory_used_gib_hours '.name == "idle"')" 0
for each in big:4 small:1; do
    expect_between "GiB hours granted to ${each%:*}" "$(sum memory_granted_gib_hours ".name == \"${each%:*}\"")" \
        "$(jq -n "($changed - $running + 6) * ${each#*:} / 3600")" "$(jq -n "($ended - $began) * ${each#*:} / 3600")"
done
expect_between "GiB hours granted to idle" "$(sum memory_granted_gib_hours '.name == "idle"')" \
    "$(jq -n "(($changed - $running) * 2 + 6 * 4) / 3600")" "$(jq -n "(($changed - $began) * 2 + ($ended - $changed) * 4) / 3600")"
expect_equal "starts" "$(sum starts)" 3
for by in gpu user day user,day name,gpu day,user,gpu,name; do
    before=$(sum memory_granted_gib_hours)
    report --by "$by"
    within "GiB hours by $by" "$(sum memory_granted_gib_hours)" "$before" 0.0001
    expect_equal "starts by $by" "$(sum starts)" 3
done

echo "Starts and refusals are counted for whose they are."
# As sudo starts what a user runs by it.
as_nobody() { env SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody "$@"; }
for i in 1 2 3; do
    expect as_nobody cgpuctl run -q --name nobodys --mem 1GiB -- true
    expect cgpuctl run -q --name roots --mem 1GiB -- true
done
for i in 1 2; do
    as_nobody cgpuctl run -q --name nobodys --mem 999GiB -- true 2>"$scratch/refused" &&
        fail "999 GiB were granted"
done
expect has "$scratch/refused" 'Try: '
wait_for 10 none_listed
counts() { cgpuctl report --by user,name --json | jq -c '[.rows[] | select(.name == "nobodys" or .name == "roots") | [.owner, .name, .starts, .starts_refused]]'; }
are_counted() { [[ $(counts) == '[[65534,"nobodys",3,0],[65534,"nobodys",0,2],[0,"roots",3,0]]' || $(counts) == '[[0,"roots",3,0],[65534,"nobodys",3,2]]' ]]; }
wait_for 15 are_counted || fail "counted: $(counts)"

echo "A kill of cgpud counts nothing twice, and loses an interval at most."
job long --mem 2GiB --gpus 0 -- alloc --mib 500 --hold
wait_for 20 is_ready long
sleep 2
expect lab-restart-cgpud --kill
wait_for 20 is_counted long 0
sleep 2
end_job long
wait_for 10 none_listed
report
expect_equal "starts of long" "$(sum starts '.name == "long"')" 1

echo "The sums of days last longer than the records, and agree with them."
report --by user,name
cp "$scratch/report" "$scratch/whole"
stop_cgpud TERM
cp /var/lib/cgpu/history "$scratch/history"
expect python3 "$here/ring.py" overwrite /var/lib/cgpu/history
start_cgpud || fail 'cgpud did not start'
report --by user,name
jq -c '[.rows[] | select(.name != "newer")]' "$scratch/report" >"$scratch/by_days"
expect_equal "by the sums of days" \
    "$(jq -c '[.[] | [.user, .name, .starts, .starts_refused, .launches, (.memory_granted_gib_hours * 1e5 | round)]] | sort' "$scratch/by_days")" \
    "$(jq -c '[.rows[] | [.user, .name, .starts, .starts_refused, .launches, (.memory_granted_gib_hours * 1e5 | round)]] | sort' "$scratch/whole")"
stop_cgpud TERM
rm /var/lib/cgpu/history
start_cgpud || fail 'cgpud did not start'
report --by user,name
expect_equal "rows by the sums alone" "$(jq '.rows | length' "$scratch/report")" "$(jq '.rows | length' "$scratch/whole")"
stop_cgpud TERM
printf 'no history\n%.0s' {1..500} >/var/lib/cgpu/history-days
cp "$scratch/history" /var/lib/cgpu/history
start_cgpud || fail 'cgpud did not start'
expect has /var/lib/cgpu/history-days.damaged '^no history'
report --by user,name
within "GiB hours after the sums were lost" "$(sum memory_granted_gib_hours)" "$(jq '[.rows[].memory_granted_gib_hours] | add' "$scratch/whole")" 0.01

echo "Times and periods have names."
for since in monday last-week 'this month' 30d; do expect cgpuctl report --since "$since" >"$scratch/table"; done
report --period today --by user
expect_between "starts of today" "$(sum starts)" 1 20
expect_error 'goes with neither' cgpuctl report --period today --since 1h
expect_error 'it has not begun' cgpuctl report --period 2999
expect_error 'it is no part of the calendar' cgpuctl report --period fortnight
