# cgpuctl why, judged by the GPUs' own ledger: an instance without work, one that takes what is left, one that waits for long
# kernels, refused allocations, and a GPU whose compute the driver divides.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

# why NAME OPTION…: its JSON into $scratch/NAME.why.
why() { expect cgpuctl why "$@" --json >"$scratch/$1.why"; }
codes() { jq -r '[.[].reasons[].code] | join(" ")' "$scratch/$1.why"; }
has_code() { [[ " $(codes "$1") " == *" $2 "* ]] || fail "$1: no reason $2 among: $(codes "$1")"; }

echo "One works half of the time at most, the other one takes the rest."
expect cgpuctl set-policy 0 weighted
job half --gpus 0 -- sh -c 'trap "exit 0" TERM; while :; do burn --seconds 0.2 --kernel-us 1000 >/dev/null; sleep 0.4; done'
job busy --gpus 0 -- burn --forever --kernel-us 1000
wait_for 20 is_ready busy
simgpu ledger --json >"$scratch/before"
why busy --seconds 3
simgpu ledger --json >"$scratch/after"
why half --seconds 3
got=$(jq '.[0].share_got * 100' "$scratch/busy.why")
due=$(jq -n --slurpfile before "$scratch/before" --slurpfile after "$scratch/after" --argjson pid "${pids[busy]}" \
    --argjson span "$(jq '.[0].interval_seconds' "$scratch/busy.why")" '
    def used($ledger): [$ledger.processes[] | select(.pid == $pid) | .gpus[].gpu_ns] | add;
    (used($after[0]) - used($before[0])) / $span / 1e7')
expect_between "share that busy got, in per cent" "$got" "$(jq -n "$due - 6")" "$(jq -n "$due + 6")"
# While the other one is idle, the whole GPU is due to it.
gets_its_share() { [[ $(codes busy) =~ ^(got-its-share|more-than-due) ]] || { why busy --seconds 2 && false; }; }
wait_for 20 gets_its_share
has_code half without-work
expect cgpuctl why half --seconds 1 >"$scratch/text"
expect has "$scratch/text" '^half on GPU 0, over 1(\.[0-9]+)?s: due 50%, got '
expect has "$scratch/text" '^- At least [0-9.]+% of the time it had no work for the GPU'
for name in half busy; do end_job "$name"; done

echo "One waits for long kernels, one for nobody, and has no more memory."
job long --gpus 0 -- burn --forever --kernel-us 80000
job short --gpus 0 -- burn --forever --kernel-us 1000
job full --gpus 1 -- alloc --mib 20000 --chunk-mib 256 --until-fail --hold
for name in long short full; do wait_for 20 is_ready "$name"; done
# In its first seconds short may have more than its share: what the other one's first kernel has taken is given back.
waits_for_long() { why short --seconds 2; [[ " $(codes short) " == *" waited "* ]]; }
wait_for 20 waits_for_long
has_code short long-kernel
expect has "$scratch/short.why" 'The longest kernel of long took [0-9.]+ms'
why full --seconds 1
has_code full no-work
has_code full allocations-refused

for name in long short full; do end_job "$name"; done

echo "A stranger has a part of the card: it is named, and the account adds up to the whole time."
job mine --gpus 0 -- burn --forever --kernel-us 1000
job other --gpus 0 -- burn --forever --kernel-us 1000
for name in mine other; do wait_for 20 is_ready "$name"; done
CUDA_VISIBLE_DEVICES=0 burn --forever --kernel-us 1000 >"$scratch/stranger.out" 2>&1 &
stranger=$!
# In the first looks at it the stranger has computed for a part of the time only.
sees_stranger() {
    why mine --seconds 2
    [[ $(codes mine) == strangers* && $(jq '.[0].account.strangers > 0.15' "$scratch/mine.why") == true ]]
}
wait_for 60 sees_stranger
expect has "$scratch/mine.why" "process $stranger most of it"
account=$(jq -c '.[0].account' "$scratch/mine.why")
expect_between "the account's sum of $account" "$(jq '[.own, .others[].ratio, .strangers, .switching, .idle] | add' <<<"$account")" 0.999 1.001
expect_between "the strangers' part of $account" "$(jq .strangers <<<"$account")" 0.15 0.85
expect_equal "the others of $account" "$(jq -r '[.others[].name] | join(" ")' <<<"$account")" other
expect cgpuctl why mine --seconds 1 >"$scratch/text"
expect has "$scratch/text" "^The GPU's time: [0-9.]+% it, [0-9.]+% other, [0-9.]+% processes of no instance, [0-9.]+% switching, [0-9.]+% idle$"
kill "$stranger"
wait "$stranger"
for name in mine other; do end_job "$name"; done

echo "Where nothing is measured, that is said, and mistakes are told."
job short --gpus 0 -- burn --forever --kernel-us 1000
wait_for 20 is_ready short
expect cgpuctl set-policy 0 native
why short --seconds 1
expect_equal "reasons under native" "$(codes short)" not-measured
expect_error 'there is no' cgpuctl why nobody
expect_error 'the instance has no such GPU. Try: cgpuctl list' cgpuctl why short --gpu 1
expect_error 'it must be from 1 to 3600' cgpuctl why short --seconds 0
end_job short
wait_for 5 none_listed
