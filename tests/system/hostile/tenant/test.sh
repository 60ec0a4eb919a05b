# What a user with the right to run jobs, and no other, can do to all others on a node by calls of the bus alone: he makes no GPU
# look full, and erases nobody's history and events.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../lib.sh"
. "$here/../../bus/polkit_lib.sh"
chmod 755 "$scratch"
install -m 644 "$here/calls.py" "$scratch/calls.py"
tenant() { as_user /usr/bin/python3 "$scratch/calls.py" "$@"; }

let_user_run

echo "One process of 300 MiB in 64 containers without a limit counts once."
as_user alloc --mib 300 --hold >"$scratch/alloc.out" 2>&1 &
wait_for 20 has "$scratch/alloc.out" '^ready'
holder=$(pgrep -n -u $user alloc)
tenant unmanaged 64 "$holder" >"$scratch/tenant.out" 2>&1 &
wait_for 20 has "$scratch/tenant.out" '^ready'
unmanaged() { cgpuctl list --json | jq "[.[] | select(.managed == false)] | $1"; }
is_shown() { (($(unmanaged '[.[].gpus[].memory_used_bytes] | add // 0') > 0)); }
wait_for 20 is_shown
expect_equal "containers" "$(unmanaged length)" 64
expect_equal "what they hold" "$(unmanaged '[.[].gpus[].memory_used_bytes] | add')" "$(held "$holder")"
expect cgpuctl run --mem 15GiB -- true

echo "cgpuctl and the bus know such a container; its creator can't make its memory look free."
id=$(unmanaged '.[0].id' | tr -d '"')
expect cgpuctl show "$id" >"$scratch/shown"
expect has "$scratch/shown" 'unmanaged \(it has no limit'
expect_error 'ReleaseInstance|not permitted|manage-instance' call_manager_as_user ReleaseInstance 'sa{sv}' "$id" 0
expect quietly busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager ReleaseInstance 'sa{sv}' "$id" 0
expect_equal "containers after a release" "$(unmanaged length)" 63
kill -KILL "$holder"
none_unmanaged() { [[ $(unmanaged length) == 0 ]]; }
wait_for 20 none_unmanaged

echo "The process of a user's own job counts there only."
as_user cgpuctl run --name own --mem 7GiB -- alloc --mib 6000 --hold >"$scratch/own.out" 2>&1 &
wait_for 20 has "$scratch/own.out" '^ready'
holder=$(pgrep -n -u $user alloc)
tenant unmanaged 3 "$holder" >"$scratch/tenant.out" 2>&1 &
wait_for 20 has "$scratch/tenant.out" '^ready'
# A process in no instance beside it: once that one is shown, cgpud has looked.
as_user alloc --mib 20 --hold >"$scratch/beside.out" 2>&1 &
wait_for 20 has "$scratch/beside.out" '^ready'
beside=$(pgrep -n -u $user alloc)
tenant unmanaged 1 "$beside" >"$scratch/tenant1.out" 2>&1 &
wait_for 20 is_shown
expect_equal "what the containers hold" "$(unmanaged '[.[].gpus[].memory_used_bytes] | add')" "$(held "$beside")"
expect cgpuctl run --mem 7GiB -- true
kill -KILL "$holder" "$beside"
wait_for 20 none_unmanaged

echo "Instances without end that do nothing leave no record, and few lines of the log."
expect cgpuctl run --name worker --mem 1GiB -- burn --seconds 1 --kernel-us 1000 >/dev/null
wait_for 10 none_listed
size=$(stat -c %s /var/lib/cgpu/history)
lines=$(lab-log | wc -l)
expect_equal "instances created and released" "$(tenant churn 600)" 600
expect_equal "the history's growth" $(($(stat -c %s /var/lib/cgpu/history) - size)) 0
expect_between "lines of the log" $(($(lab-log | wc -l) - lines)) 100 500
expect has <(cgpuctl report --no-legend) '^worker +root +1 +'
many() { in_log '"x".*\(4[0-9][0-9] times since the last such line\)' || in_log 'x.*times since the last such line'; }
wait_for 10 many

echo "Nor do instances without end whose processes tell what should be logged: 20 lines each, and 60 a minute for a user."
expect_equal "instances" "$(tenant tell 200)" 200
expect in_log 'gets no driver: /proc'
expect_between "lines of those instances" "$(lab-log | grep -c 'managed memory was refused')" 20 1000

echo "A job that bears the name of another user's has a row of its own in the report."
expect as_user cgpuctl run --name worker --mem 1GiB -- burn --seconds 2 --kernel-us 1000 >/dev/null
wait_for 10 none_listed
expect_equal "owners and GPU time" \
    "$(cgpuctl report --json | jq -c '[.rows[] | select(.name == "worker") | [.owner, (.gpu_seconds | round)]] | sort')" \
    "[[0,1],[$(id -u $user),2]]"

echo "What reads the node for as long as it runs is sent no signals: they would wait for it without end while instances come and go."
# signals_to PID: the most rules that its connections have had at the bus at a time.
signals_to() {
    local name number rules=0
    for name in $(busctl list --no-legend | awk -v pid="$1" '$2 == pid { print $1 }'); do
        [[ $name == :* ]] || continue
        number=$(busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus.Debug.Stats GetConnectionStats s "$name" |
            grep -oE '"PeakMatchRules" u [0-9]+') || { echo unknown && return; }
        rules=$((rules + ${number##* }))
    done
    echo "${name:+$rules}"
}
cgpu-exporter --listen 127.0.0.1:0 >"$scratch/exporter.out" 2>"$scratch/exporter.log" &
exporter=$!
wait_for 10 has "$scratch/exporter.out" '/metrics$'
address=$(sed -nE 's,.*(http://.*/metrics),\1,p' "$scratch/exporter.out")
expect /usr/bin/python3 -c 'import sys, urllib.request as web; web.urlopen(sys.argv[1], timeout=10).read()' "$address"
expect_equal "rules of cgpu-exporter" "$(signals_to $exporter)" 0
kill "$exporter"
if [[ -e /dev/fuse ]]; then
    cgpu-fs >"$scratch/fs.out" 2>"$scratch/fs.log" &
    tree=$!
    wait_for 10 test -e /run/cgpu/km/version
    expect test -n "$(cat /run/cgpu/km/0/free_weight)"
    expect_equal "rules of cgpu-fs" "$(signals_to $tree)" 0
    kill "$tree"
fi

echo "A weaker mode than the configured one isn't the tenant's to choose, and who has it takes no limit from others."
for mode in none memory; do
    expect_error "weaker mode.*may not.*org.cgpu1.upgrade-module" as_user env CGPU_MODE=$mode cgpuctl run --mem 512MiB -- true
    asks=(CGPU_MODE=$mode)
    job open --gpus 0 --mem 512MiB -- alloc --mib 10 --hold
    asks=()
    wait_for 20 is_ready open
    expect_error "serves 1 instance in mode $mode" cgpuctl run --gpus 0 --mem 1GiB -- true
    expect_error "serves 1 instance in mode $mode" as_user cgpuctl run --gpus 0 --mem 1GiB -- true
    end_job open
    wait_for 10 none_listed
done
