# Several changes as one, by the bus and by cgpuctl: all or none, in any order, told once; the node's description and its
# generation; and the two programs of docs/examples. One GPU.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/signals.sh"

manager=/org/cgpu1
gpu=$(busctl call org.cgpu1 $manager org.cgpu1.Manager FindGpu s 0 | cut -d'"' -f2)
apply() { busctl call org.cgpu1 $manager org.cgpu1.Manager Apply 'aa{sv}a{sv}' "$@"; }
generation() { busctl get-property org.cgpu1 $manager org.cgpu1.Manager Generation | cut -d' ' -f2; }
weights() { cgpuctl list --json | jq -c '[.[] | [.name, .gpus[0].weight]] | sort'; }
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

# Two jobs that fill the GPU's slices.
expect cgpuctl set-max-inst 0 20 -q
for name in web train; do
    CGPU_MEM=4GiB CGPU_WEIGHT=10 cgpuctl run --name $name -- bash -c 'echo $$ >"$0"; exec burn --forever' "$scratch/$name" &
    wait_for 20 test -s "$scratch/$name"
    wait_for 20 more_than 0 "$(<"$scratch/$name")"
done
expect_equal "weights" "$(weights)" '[["train",10],["web",10]]'

# They exchange slices, whatever comes first, and the GPU's policy changes with them: one signal each.
start_signals
before=$(generation)
expect_equal "the answer" "$(apply 3 2 instance s web weight u 15 2 instance s train weight u 5 2 gpu s 0 policy s weighted 0)" \
    "t $(generation)"
stop_signals
expect_equal "weights" "$(weights)" '[["train",5],["web",15]]'
expect_between "generation" "$(generation)" $((before + 1)) $((before + 10))
expect_equal "signals" "$(signals '.payload.data | [.[0], (.[1] | keys)]' | sort)" \
    '["org.cgpu1.Gpu",["Policy","PolicyName"]]
["org.cgpu1.Instance",["Quotas"]]
["org.cgpu1.Instance",["Quotas"]]'

# One that is refused leaves all as they were, and is named.
before=$(generation)
expect_error 'change 2: weight 16 for instance .*train.*: it has 5 and ' \
    apply 2 2 instance s web weight u 14 2 instance s train weight u 16 0
expect_error 'change 1: key "weight": its type is s. Try: give it as u' apply 1 2 instance s web weight s heavy 0
expect_error 'change 1: key "colour": a change of this kind' apply 1 2 gpu s 0 colour s red 0
expect_error 'change 1: it names nothing' apply 1 1 weight u 4 0
expect_error 'option "frobnicate"' apply 0 1 frobnicate u 1
expect_error "only root may|without an administrator's password" as_nobody busctl call org.cgpu1 $manager org.cgpu1.Manager Apply 'aa{sv}a{sv}' 1 2 gpu s 0 policy s soft 0
expect_error "only root may|without an administrator's password" as_nobody busctl call org.cgpu1 $manager org.cgpu1.Manager Apply 'aa{sv}a{sv}' 1 2 instance s web weight u 1 0
expect apply 1 2 gpu s 0 max-inst u 25 1 dry-run b true
expect_equal "generation" "$(generation)" "$before"
expect_equal "weights" "$(weights)" '[["train",5],["web",15]]'

# The same by cgpuctl, with lines; the description that a script decides by.
printf 'set-weight web 8 # of 20\nset-weight train 12\nset-prio-ratio 0 70\n' >"$scratch/batch"
described=$(as_nobody cgpuctl describe)
expect_equal "generation" "$(jq .generation <<<"$described")" "$(generation)"
settings='.gpus[0] | del(.memory_used_bytes, .memory_leased_bytes, .memory_in_driver_bytes, .memory_charged_then_bytes, .strangers_share, .strangers_process)'
expect_equal "the GPU" "$(jq -S "$settings" <<<"$described")" "$(cgpuctl status --json | jq -S "$settings")"
for key in id name image state pid created_seconds module_version managed; do
    expect_equal "$key of the instances" "$(jq -c "[.instances[].$key]" <<<"$described")" \
        "$(cgpuctl list --json | jq -c "[sort_by(.id)[].$key]")"
done
expect_equal "limits" "$(jq -c '[.instances[].gpus[0] | [.memory_limit_bytes, .weight]]' <<<"$described")" \
    "$(cgpuctl list --json | jq -c '[sort_by(.id)[].gpus[0] | [.memory_limit_bytes, .weight]]')"
# Figures of usage are of the same moment: root's are of now, and others learn how old theirs are.
now=$(cgpuctl describe)
expect_equal "root's figures" "$(jq .usage_age_seconds <<<"$now")" 0
expect_between "age of others' figures in ms" "$(jq '.usage_age_seconds * 1000 | floor' <<<"$described")" 0 1000
expect_equal "memory of the GPU" "$(jq '.gpus[0].memory_used_bytes' <<<"$now")" "$(jq '[.instances[].gpus[].memory_used_bytes] | add' <<<"$now")"
expect_equal "memory by the ledger" "$(jq '.gpus[0].memory_used_bytes' <<<"$now")" "$(ledger '[.gpus[].used_bytes] | add')"
expect_equal "the process of web" "$(jq -c '.instances[] | select(.name == "web").processes' <<<"$now")" \
    "[{\"pid\":$(<"$scratch/web"),\"uid\":0,\"command\":\"$(<"/proc/$(<"$scratch/web")/comm")\"}]"
expect_equal "dry run" "$(cgpuctl apply --dry-run "$scratch/batch")" '3 changes could be made; nothing was changed.'
expect cgpuctl apply -q --if-generation "$(jq .generation <<<"$described")" "$scratch/batch"
expect_equal "weights" "$(weights)" '[["train",12],["web",8]]'
expect_error 'generation [0-9]+: the node has changed since then.* Try: ' \
    cgpuctl apply --if-generation "$(jq .generation <<<"$described")" "$scratch/batch"
cgpuctl apply --if-generation 1 "$scratch/batch" 2>/dev/null
expect_equal "exit code" $? 4
printf '\nset-weight web 8\nset-weight train 13\n' >"$scratch/batch"
expect_error "^$scratch/batch:3: weight 13 for instance " cgpuctl apply "$scratch/batch"
expect_error "standard input:1: \"list\": a batch can't have it" cgpuctl apply <<<list
expect_error 'cgpuctl apply: .*--if-generation' cgpuctl apply --if-generation
expect_error 'nonexistent: it can.t be read' cgpuctl apply /nonexistent

# The usage of all by one call is that of each by its own.
busctl --json=short call org.cgpu1 $manager org.cgpu1.Manager GetUsage >"$scratch/usage"
instance=$(cgpuctl show web --json | jq -r .id)
usage=$(jq --arg id "$instance" '.data[1][$id] | to_entries[0].value' "$scratch/usage")
# As text: busctl has no JSON for a map whose keys are numbers.
busctl call org.cgpu1 "/org/cgpu1/instance/$(sed -E 's/^([0-9])/_3\1/' <<<"$instance")" org.cgpu1.Instance GetUsage >"$scratch/of_web"
for figure in memory-used memory-leased memory-limit memory-unexplained; do
    expect_equal "$figure" "$(jq ".[0].\"$figure\"" <<<"$usage")" "$(sed -E "s/.*\"$figure\" t ([0-9]+).*/\1/" "$scratch/of_web")"
done
expect_equal "processes" "$(jq -c '.[2]' <<<"$usage")" "[$(<"$scratch/web")]"
expect_equal "memory of processes" "$(jq -r '.[3][] | "\(.[0]) \(.[1])"' <<<"$usage")" \
    "$(sed -E 's/.*"memory-of-processes" a\{ut\} 1 ([0-9]+ [0-9]+).*/\1/' "$scratch/of_web")"
expect_equal "memory of the GPU" "$(jq -r '.data[0] | to_entries[0].value."memory-used"' "$scratch/usage")" \
    "$(ledger '[.gpus[].used_bytes] | add')"

# A single change can be bound to a generation, too.
expect_error 'org.cgpu1.Error.Changed|the node has changed since' \
    busctl call org.cgpu1 "$gpu" org.cgpu1.Gpu SetPolicy 'sa{sv}' soft 1 if-generation t 1
expect busctl call org.cgpu1 "$gpu" org.cgpu1.Gpu SetPolicy 'sa{sv}' soft 1 if-generation t "$(generation)"

# Generations grow over a restart.
before=$(generation)
expect lab-restart-cgpud
expect cgpuctl apply -q <<<'set-policy 0 fixed'
expect_between "generation" "$(generation)" $((before + 1)) $((before + 10))

# The examples: each sets a policy, and tells of the next change.
follow() { # PROGRAM WORDS: that it prints when the weight of web changes again
    "$here/../../../docs/examples/$1" 0 weighted >"$scratch/$1.out" 2>"$scratch/$1.err" &
    local pid=$!
    is_weighted() { [[ $(cgpuctl show 0 --json | jq -r .policy_name) == weighted ]]; }
    wait_for 20 is_weighted
    # It may have missed the first change after it set the policy.
    changed() {
        cgpuctl set-policy 0 soft -q && cgpuctl set-policy 0 weighted -q
        grep -qE "$2" "$scratch/$1.out"
    }
    wait_for 20 changed "$1" "$2" || fail "$1: $(cat "$scratch/$1.out" "$scratch/$1.err")"
    kill "$pid"
    wait "$pid" 2>/dev/null
    expect cgpuctl set-policy 0 fixed -q
}
follow set-policy.sh '"PolicyName":"soft"'
if /usr/bin/python3 -c 'import gi' 2>/dev/null; then
    follow follow.py "changed .*'PolicyName': 'soft'"
    expect_error 'org.cgpu1.Error.NotFound: GPU "9": there is no such GPU' "$here/../../../docs/examples/follow.py" 9 weighted
else
    echo "follow.py: NOT TRIED, python3-gi is not here" # as in the booted node
fi
