# `cgpuctl bench`: the shares that it prints are those in the GPU's own ledger.
. "$(dirname "$0")/../lib.sh"

expect cgpuctl set-policy 0 weighted
expect cgpuctl bench 0 --weights 1:2:5 --seconds 4 --json >"$scratch/bench.json"
expect_equal "programs left" "$(pgrep -c cgpu-load)" 0
expect_equal "instances left" "$(cgpuctl list --quiet)" ""
# The first program that computed was the ungated one.
ledger '[.processes[] | select(.comm == "cgpu-load")] | sort_by(.start_time) | map(.gpus[0].gpu_ns) | .[1:] |
    sort | (add) as $all | .[] | 100 * . / $all' >"$scratch/by_ledger"
jq -r '.programs | sort_by(.weight) | .[].share * 100' "$scratch/bench.json" >"$scratch/by_bench"
expect_equal "programs" "$(wc -l <"$scratch/by_bench")" 3
while read -r true_share said; do
    expect_between "a share by the bench" "$said" "$(jq -n "$true_share - 3")" "$(jq -n "$true_share + 3")"
done < <(paste -d ' ' "$scratch/by_ledger" "$scratch/by_bench")
expect_equal "shares due" "$(jq -c '[.programs[].target_share * 1000 | round]' "$scratch/bench.json")" '[125,250,625]'
expect_between "the work of all" "$(jq .together "$scratch/bench.json")" 0.5 1.1

echo "beside others it isn't done unasked"
job other --mem 1GiB -- burn --forever
wait_for 20 is_ready other
expect_error "1 instance is on it" cgpuctl bench 0
expect_error "it is not within 1 to 25" cgpuctl bench 0 --weights 1:26
expect_error "is not a whole number" cgpuctl bench 0 --weights 1:
expect_error "bench: program . of 2 ended early" cgpuctl bench 0 --force --mem 15GiB
expect_equal "programs left" "$(pgrep -c cgpu-load)" 0
end_job other
