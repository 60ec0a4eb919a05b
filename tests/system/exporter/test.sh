# test.sh LAB…: cgpu-exporter on a node with two GPUs. Debian's promtool checks its metrics and runs the tests of the alert
# rules, and Debian's Prometheus scrapes it: queries give the bytes of the GPUs' own ledger exactly, and its shares within a
# point. While cgpud is away there are no figures.
here=$(cd "$(dirname "$0")" && pwd)
if [[ ${1-} != inside ]]; then
    "$here/fetch" || { [[ $? == 77 ]] && echo 'SKIP: there is no Prometheus to scrape with' && exit 77; }
    exec "$@" --gpus 'V100:16130MiB*2' -- bash "$0" inside
fi
. "$here/../lib.sh"
asks=("${four_of_15[@]}")
PATH=$here/../../../build/prometheus/bin:$PATH
servers=()
trap 'status=$?; kill "${servers[@]}" 2>/dev/null; finish $status' EXIT

# --- the alert rules, without a node
cd "$here" || fail 'the test has no folder'
expect promtool check rules ../../../etc/prometheus/cgpu.rules.yml
expect promtool test rules rules_test.yml

# --- the exporter
cgpu-exporter --listen 127.0.0.1:0 >"$scratch/exporter.out" 2>"$scratch/exporter.err" &
servers+=($!)
wait_for 10 has "$scratch/exporter.out" '/metrics$'
address=$(sed -nE 's,.*http://(.*)/metrics,\1,p' "$scratch/exporter.out")
get() {
    python3 -c 'import sys, urllib.request as web; print(web.urlopen(sys.argv[1], timeout=10).read().decode(), end="")' "$1"
}
# sample NAME TEXT: the value of the metric's only line with this text.
sample() { get "http://$address/metrics" | grep -F "$2" | sed -nE "s/^$1(\{.*\})? ([^ ]+)$/\2/p"; }
bytes() { printf '%.0f\n' "$(sample "$@")"; }

expect cgpuctl set-policy 0 weighted
job holder --gpus 1 -- alloc --mib 300 --hold
job one --gpus 0 --weight 1 -- burn --forever --kernel-us 1000
job two --gpus 0 --weight 2 -- burn --forever --kernel-us 1000
for name in holder one two; do wait_for 20 is_ready "$name"; done
wait_for 5 is_counted holder 1
for name in one two; do wait_for 5 is_counted "$name"; done

get "http://$address/metrics" >"$scratch/metrics"
# The library's own metrics are in microseconds.
expect promtool check metrics < <(grep -v exposer_ "$scratch/metrics")
expect_equal "is up" "$(sample cgpud_up '')" 1
for name in holder one two; do
    gpu=0
    [[ $name != holder ]] || gpu=1
    expect_equal "bytes of $name" "$(bytes cgpu_container_memory_used_bytes "container=\"$name\"")" \
        "$(held "${pids[$name]}" "$gpu")"
    expect_equal "limit of $name" "$(bytes cgpu_container_memory_limit_bytes "container=\"$name\"")" "$limit_of_four"
done
expect_equal "bytes of GPU 1" "$(bytes cgpu_gpu_memory_used_bytes 'gpu="1"')" "$(ledger '.gpus[1].used_bytes')"
expect_equal "admissions" "$(sample cgpud_events_total 'type="instance-admitted"')" 3
expect_error 'can.t listen on .*Try: ' cgpu-exporter --listen "$address"
expect_error 'is not an address with a port' cgpu-exporter --listen localhost

# --- Prometheus scrapes it
cat >"$scratch/prometheus.yml" <<YAML
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - {job_name: cgpu, static_configs: [{targets: ['$address']}]}
YAML
expect promtool check config "$scratch/prometheus.yml"
# It has no way to say which free port it took.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/tsdb" --web.listen-address="127.0.0.1:$port" \
    >"$scratch/prometheus.out" 2>&1 &
servers+=($!)
# query EXPRESSION: the value of its only result; empty if there is none.
query() { promtool query instant -o json "http://127.0.0.1:$port" "$1" 2>/dev/null | jq -r '.[0].value[1] // empty'; }
answers() { [[ $(query "$1") == "$2" ]]; }
wait_for 30 answers cgpud_up 1
wait_for 10 answers 'cgpu_container_memory_used_bytes{container="holder",gpu="1"}' "$(held "${pids[holder]}" 1)"
wait_for 10 answers 'sum(cgpu_gpu_memory_used_bytes)' "$(ledger '[.gpus[].used_bytes] | add')"
wait_for 10 answers 'cgpu_gpu_instances{gpu="0"}' 2

# waits_of_one: seconds that its launches have waited so far.
waits_of_one() { sample cgpu_container_launch_wait_seconds_sum 'container="one"'; }
simgpu ledger --json >"$scratch/before"
waits=$(waits_of_one)
sleep 8
waits=$(jq -n "$(waits_of_one) - $waits")
simgpu ledger --json >"$scratch/after"
used() { # NAME: nanoseconds meanwhile, by the ledger
    jq -n --slurpfile before "$scratch/before" --slurpfile after "$scratch/after" --argjson pid "${pids[$1]}" '
        def used($ledger): [$ledger.processes[] | select(.pid == $pid) | .gpus[] | select(.gpu == 0).gpu_ns] | add;
        used($after[0]) - used($before[0])'
}
got=$(query '100 * rate(cgpu_container_compute_seconds_total{container="one"}[8s])
    / scalar(sum(rate(cgpu_container_compute_seconds_total{gpu="0"}[8s])))')
due=$(jq -n "$(used one) * 100 / ($(used one) + $(used two))")
echo "share of one by Prometheus: $got %, by the ledger: $due %"
expect_between "share of one by Prometheus" "$got" "$(jq -n "$due - 1")" "$(jq -n "$due + 1")"

# --- Its only thread waits while the other has the GPU, and can't wait for longer than the time between the figures.
span=$(jq -n --slurpfile before "$scratch/before" --slurpfile after "$scratch/after" '($after[0].now_ns - $before[0].now_ns) / 1e9')
expect_between "seconds that one's launches waited of $span" "$waits" "$(jq -n "$(used two) * 0.9 / 1e9")" "$(jq -n "$span + 1")"
launches=$(sample cgpu_container_launches_total 'container="one"')
expect_between "launches of one that waited" "$(sample cgpu_container_launch_wait_seconds_count 'container="one"')" 1 "$launches"

# --- A program that is in no container isn't in the accounts.
gap_is() { [[ $(bytes cgpu_gpu_memory_ledger_gap_bytes 'gpu="1"') == "$1" ]]; }
wait_for 20 gap_is 0
CUDA_VISIBLE_DEVICES=1 alloc --mib 200 --hold >"$scratch/alone.out" 2>&1 &
alone=$!
servers+=($alone)
holds() { (($(held "$1" 1) > 200 << 20)); }
wait_for 10 holds $alone
wait_for 20 gap_is "$(held $alone 1)"

# --- each query of Grafana's dashboards, with what Grafana puts in for its variables. What is normally nothing may have no result.
for board in ../../../etc/grafana/dashboards/*.json; do
    asked=0
    while IFS=$'\t' read -r title expression; do
        for variable in instance gpu container; do expression=${expression//\$$variable\"/.*\"}; done
        expression=${expression//\$__rate_interval/8s}
        expression=${expression//\$__range/20s}
        [[ $expression != *\$* ]] || fail "$board: $title: a variable is left in $expression"
        promtool query instant -o json "http://127.0.0.1:$port" "$expression" >"$scratch/answer" 2>"$scratch/answer.err" ||
            fail "$board: $title: $(cat "$scratch/answer.err")"
        [[ $expression == *'> 0' ]] || expect_between "results of $title: $expression" "$(jq length "$scratch/answer")" 1 40
        asked=$((asked + 1))
    done < <(jq -r '.panels[] | .title as $title | .targets[] | [$title, .expr] | @tsv' "$board")
    echo "$board: $asked queries"
    ((asked > 10)) || fail "$board has hardly a query"
    expect_equal "places that overlap in $board" "$(jq '[.panels[].gridPos | . as $p | range(.h) as $y | range(.w) as $x |
        "\($p.x + $x),\($p.y + $y)"] | length - (unique | length)' "$board")" 0
done

# --- cgpud is stopped: nothing stale is served; it is back: neither is anything lost.
. "$CGPU_LAB/cgpud.sh"
stop_cgpud TERM
expect_equal "figures without cgpud" "$(get "http://$address/metrics" | grep -vE '^#|^exposer_')" 'cgpud_up 0'
wait_for 10 answers cgpud_up 0
wait_for 10 answers 'count(cgpu_gpu_info) or vector(0)' 0
expect has "$scratch/exporter.err" 'does not answer on the system bus'
start_cgpud || fail 'cgpud did not start'
wait_for 10 answers cgpud_up 1
wait_for 10 answers 'count(cgpu_container_info)' 3
kill -TERM "${servers[0]}"
wait "${servers[0]}"
expect_equal "exit status of the exporter" $? 0
for name in holder one two; do end_job "$name"; done
