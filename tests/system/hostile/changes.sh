# Changes of the node cost only the GPU that they are about. Three tenants are on GPU 3, of which two compute and one only has
# its slices; instances come and go on GPU 0 meanwhile, and the settings of GPU 0 change again and again. By the ledger the two
# get the same as in a calm node, and the slices of the idle one stay unused: a change that ended turns would cost the GPU's
# time, and one that forgot idle slices would give them away. GpuGates.WhatChangesOnAnotherGpuTouchesNothing shows the same
# for each order of the slicer. Under a booted systemd, with four GPUs.
. "$(dirname "$0")/../lib.sh"
of_unit() { systemctl show cgpud --property "$1" --value; }
# Long slices: each turn that ends early is seen.
echo 'slice_ms: 100' >/etc/cgpu/cgpud.yaml
expect systemctl restart cgpud
was="$(of_unit NRestarts) $(of_unit MainPID)"

expect cgpuctl set-policy 3 weighted -q
expect cgpuctl set-policy 0 weighted -q
job one --mem 1GiB --gpus 3 --weight 1 -- burn --forever --kernel-us 1000
job two --mem 1GiB --gpus 3 --weight 2 -- burn --forever --kernel-us 1000
job idle --mem 1GiB --gpus 3 --weight 1 -- alloc --mib 10 --hold
job other --mem 1GiB --gpus 0 -- burn --forever --kernel-us 1000
for name in one two idle other; do wait_for 20 is_ready $name; done
sleep 2

# measure SECONDS: "one two all both": what each of the two, and all together, got of GPU 3's time, in per cent; and in how many
# per cent of short looks both of them had computed since the look before. With slices this long that is seldom; turns that end
# early make it frequent.
measure() {
    local end=$((SECONDS + $1))
    : >"$scratch/looks"
    while ((SECONDS < end)); do
        simgpu ledger --json >>"$scratch/looks"
        sleep 0.02
    done
    jq -rs --argjson one "${pids[one]}" --argjson two "${pids[two]}" '
        def served($pid): [.processes[] | select(.pid == $pid) | .gpus[] | select(.gpu == 3).gpu_ns] | add // 0;
        map({now: .now_ns, busy: .gpus[3].busy_ns, one: served($one), two: served($two)}) |
        (last.now - first.now) as $time |
        [last.one - first.one, last.two - first.two, last.busy - first.busy | . * 100 / $time] +
        [([range(1; length) as $i | select(.[$i].one > .[$i - 1].one and .[$i].two > .[$i - 1].two)] | length) * 100 / length] |
        map(. * 10 | round / 10) | join(" ")' "$scratch/looks"
}

# Calm.
read -r one two all both <<<"$(measure 5)"
echo "calm: one $one %, two $two %, all $all % of GPU 3's time; both in $both % of the looks"
expect_between "share of one in a calm node" "$one" 21 27
expect_between "share of two in a calm node" "$two" 45 52
expect_between "GPU 3's time that is used in a calm node" "$all" 67 77

# Changes, and before them what costs the host the same and changes nothing: the same calls as dry runs.
settings_change() { # [--dry-run]
    local count=0
    while [[ -e $scratch/changing ]]; do
        cgpuctl set-max-inst 0 $((10 + count % 2)) -q "$@" && cgpuctl set-policy 0 $((1 + count % 3)) -q "$@" &&
            cgpuctl set-prio-ratio 0 $((50 + count % 2)) -q "$@" && cgpuctl set-weight other $((1 + count % 2)) -q "$@" || return
        count=$((count + 1))
        echo $((4 * count)) >"$scratch/settings"
        sleep 0.05
    done
}
instances_come_and_go() { # [--dry-run]
    local count=0
    while [[ -e $scratch/changing ]]; do
        if (($#)); then
            busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager CreateInstance 'ssa{ss}a{sv}' "passing$count" passing 2 \
                CGPU_MEM 1GiB CGPU_GPUS 0 1 dry-run b true >/dev/null && cgpuctl show other >/dev/null || return
        else
            cgpuctl run --name "passing$count" --mem 1GiB --gpus 0 -- true || return
        fi
        count=$((count + 1))
        echo $count >"$scratch/passed"
        sleep 0.05
    done
}
# beside [--dry-run]: $one, $two, $all and $both beside them.
beside() {
    local changer passing
    : >"$scratch/changing"
    settings_change "$@" 2>"$scratch/settings.err" &
    changer=$!
    instances_come_and_go "$@" 2>"$scratch/passing.err" &
    passing=$!
    read -r one two all both <<<"$(measure 6)"
    rm "$scratch/changing"
    wait $changer || fail "a setting of GPU 0 was refused: $(cat "$scratch/settings.err")"
    wait $passing || fail "an instance on GPU 0 was refused: $(cat "$scratch/passing.err")"
    echo "beside $(cat "$scratch/settings") settings and $(cat "$scratch/passed") instances of GPU 0 ${1-}: one $one %," \
        "two $two %, all $all % of GPU 3's time; both in $both % of the looks"
    expect_between "changes of settings" "$(cat "$scratch/settings")" 24 1000000
    expect_between "instances that came and went" "$(cat "$scratch/passed")" 6 1000000
}
beside --dry-run
calm_one=$one calm_two=$two calm_all=$all calm_both=$both
beside
expect_between "share of one beside changes of GPU 0" "$one" "$(jq -n "$calm_one - 3")" "$(jq -n "$calm_one + 3")"
expect_between "share of two beside changes of GPU 0" "$two" "$(jq -n "$calm_two - 4")" "$(jq -n "$calm_two + 4")"
expect_between "GPU 3's time that is used beside changes of GPU 0" "$all" "$(jq -n "$calm_all - 5")" "$(jq -n "$calm_all + 5")"

expect_between "looks between which both had turns, in per cent, beside changes of GPU 0" "$both" 0 "$(jq -n "$calm_both + 15")"

expect_equal "the service" "$(of_unit NRestarts) $(of_unit MainPID)" "$was"
