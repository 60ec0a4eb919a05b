# Faults at each step of both flows. Each time: the documented end, one version in force, every process on it, new jobs
# admitted. Writes the table of docs/upgrade-faults.md and fails if that one differs (UPDATE_DOCS=1 writes it again).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
table=$scratch/table
docs=$here/../../../docs/upgrade-faults.md
state=/var/lib/cgpu

# Not even the file that is kept for the next save is left.
fill_disk() {
    mount -o remount,size=64k "$state" || fail "the state's disk can't be made small"
    rm -f "$state/.state.json.spare"
    cat /dev/zero >"$state/fill" 2>/dev/null
}
free_disk() {
    rm -f "$state/fill"
}

# row FLOW STEP FAULT RESULT MESSAGE: values that differ between runs are replaced by names.
row() {
    local message
    message=$(sed -E "s/process [0-9]+ of instance [0-9a-f]{12}/process P/g; s/[0-9a-f]{12}/I/g; s/${own//./\\.}/OLD/g
        s/${next//./\\.}/NEW/g; s,saving the state to [^ ]*:,saving the state:,; s,(/[^ :]+)+/,,g" <<<"$5")
    echo "| $1 | $2 | $3 | $4 | $message |" >>"$table"
}

# settled FLOW STEP FAULT: the job has ended; its message and the real state agree.
settled() {
    local version
    wait_for 40 at_state ended
    version=$own
    [[ $(upgrade_now result) == done ]] && version=$next
    wait_for 20 all_run "$version"
    expect_equal "in force after '$3'" "$(in_force)" "$version"
    expect_equal "written down after '$3'" "$(jq -r '.upgrade | .in_force, (.job // "none")' "$state/state.json" | xargs)" \
        "$version none"
    for name in "${!pids[@]}"; do
        kill -0 "${pids[$name]}" 2>/dev/null && expect maps "${pids[$name]}" "$version"
    done
    expect cgpuctl run -q --dry-run --mem 1GiB -- true
    row "$1" "$2" "$3" "$(upgrade_now result)" "$(upgrade_now message)"
}

# refused FLOW FAULT COMMAND…: nothing was changed.
refused() {
    local flow=$1 fault=$2 before said
    shift 2
    before=$(upgrade_now id)
    said=$("$@" 2>&1) && fail "expected to be refused: $*"
    expect_equal "in force after '$fault'" "$(in_force)" "$own"
    expect_equal "the last job after '$fault'" "$(upgrade_now id)" "$before"
    row "$flow" verify "$fault" refused "$said"
}

back_to_own() {
    [[ $(in_force) == "$own" ]] || expect cgpuctl upgrade --hot "$own" -q
    wait_for 10 all_run "$own"
}

no_job() {
    [[ $(upgrade_now state) == @(ended|null) ]]
}

begin() {
    expect cgpuctl upgrade "$@" --no-wait -q
}

two_idle() {
    idle one
    idle two
}

# hold_at STEP [FLAG…]: a hot upgrade stops there, because a process is stopped: the first of $held_up was told to change.
hold_at() {
    local step=$1
    shift
    # They change in the order of their ids.
    mapfile -t held_up < <(cgpuctl list --json | jq -r 'sort_by(.id) | .[].name')
    [[ $step == canary ]] || held_up=("${held_up[1]}")
    for name in "${held_up[@]}"; do freeze "$name"; done
    begin --hot "$next" "$@"
    wait_for 10 at_state "$step"
}
release() {
    for name in "${held_up[@]}"; do thaw "$name"; done
}

install_engine next
two_idle

# --- before anything is changed
engine=$modules/$next/libcgpu-engine.so.$next
mv "$engine" "$scratch/aside"
refused hot "the engine's file is missing" cgpuctl upgrade --hot "$next"
refused cold "the engine's file is missing" cgpuctl upgrade --cold "$next" --drain
mv "$scratch/aside" "$engine"
printf x >>"$engine"
refused hot "the engine's sum is wrong" cgpuctl upgrade --hot "$next"
refused cold "the engine's sum is wrong" cgpuctl upgrade --cold "$next" --drain
install_engine next
fill_disk
refused hot "the disk is full" cgpuctl upgrade --hot "$next"
refused cold "the disk is full" cgpuctl upgrade --cold "$next" --drain
free_disk

# --- hot, at each step
for step in canary all; do
    hold_at $step
    rm "$engine"
    expect lab-restart-cgpud --kill
    release
    settled hot $step "cgpud is killed and the engine's file goes missing"
    install_engine next

    hold_at $step
    expect lab-restart-cgpud --kill
    release
    settled hot $step "cgpud is killed"
    back_to_own

    hold_at $step
    killed=${held_up[0]}
    kill -KILL "${pids[$killed]}"
    wait "${pids[$killed]}" 2>/dev/null
    unset "pids[$killed]" "held_up[0]"
    release
    settled hot $step "a process that was told to go over is killed"
    idle "$killed"

    hold_at $step
    fill_disk
    release
    wait_for 20 in_log 'goes back: saving the state'
    free_disk
    settled hot $step "the disk is full"

    hold_at $step --timeout 1
    wait_for 10 at_state back
    release
    settled hot $step "a process is stopped beyond the deadline"

    hold_at $step
    expect busctl -q call org.cgpu1 "/org/cgpu1/job/$(upgrade_now id)" org.cgpu1.Job Cancel 'a{sv}' 0
    release
    settled hot $step "it is cancelled"
done
for kind in failing_restore other_charge other_abi no_engine; do
    declare -A faults=([failing_restore]="the new engine doesn't understand what the old one knows"
        [other_charge]="the new engine's accounts differ (its self-check)"
        [other_abi]="the new engine has another ABI than it declares" [no_engine]="the file is no engine")
    if expect make_bundle "$scratch" "$CGPU_LAB/engines/$kind.so" "$next" "$own" &&
        rm -rf "${modules:?}/$next" && cgpuctl module add -q "$scratch/$next" 2>"$scratch/said"; then
        begin --hot "$next"
        settled hot canary "${faults[$kind]}"
    else
        row - add "${faults[$kind]}" refused "$(cat "$scratch/said")"
    fi
    rm -rf "${scratch:?}/$next"
done
install_engine next

# --- on the way back
hold_at all
expect busctl -q call org.cgpu1 "/org/cgpu1/job/$(upgrade_now id)" org.cgpu1.Job Cancel 'a{sv}' 0
wait_for 10 at_state back
expect lab-restart-cgpud --kill
release
settled hot back "cgpud is killed"
hold_at all
expect busctl -q call org.cgpu1 "/org/cgpu1/job/$(upgrade_now id)" org.cgpu1.Job Cancel 'a{sv}' 0
wait_for 30 at_state ended
release
settled hot back "a process is stopped beyond the deadline"

# --- at arbitrary moments: cgpud is killed in the job, twice, and all processes end on one version
for moment in 0 0.001 0.002 0.004 0.008; do
    cgpuctl upgrade --hot "$next" >/dev/null 2>&1 &
    upgrading=$!
    sleep $moment
    expect lab-restart-cgpud --kill
    expect lab-restart-cgpud --kill
    wait $upgrading
    wait_for 20 no_job
    wait_for 20 all_run "$(in_force)"
    back_to_own
done

# --- cold
ends() { # the instances
    for name in "${!pids[@]}"; do
        end_job "$name"
        unset "pids[$name]"
    done
}
for fault in "the engine's file is missing by then" "the engine's sum is wrong by then" "the disk is full by then" \
    "cgpud is killed" "it is cancelled" "an instance stays beyond the deadline"; do
    timeout=60
    [[ $fault == *deadline ]] && timeout=1
    begin --cold "$next" --drain --timeout $timeout
    case $fault in
        *missing*) rm "$engine" ;;
        *sum*) printf x >>"$engine" ;;
        *full*) fill_disk ;;
        *killed) expect lab-restart-cgpud --kill ;;
        *cancelled) expect cgpuctl upgrade --cancel -q ;;
    esac
    [[ $fault == *deadline || $fault == *cancelled ]] || ends
    if [[ $fault == *full* ]]; then
        wait_for 10 in_log 'state.*No space left'
        free_disk
    fi
    settled cold drain "$fault"
    install_engine next 2>/dev/null
    if [[ $(in_force) != "$own" ]]; then
        ends
        wait_for 10 none_listed
        expect cgpuctl upgrade --cold "$own" -q
    fi
    ((${#pids[@]})) || two_idle
done
ends
wait_for 5 none_listed
wait_for 5 nothing_held

{
    sed '/^| flow /,$d' "$docs" 2>/dev/null
    echo '| flow | step | what goes wrong | end | what is said |'
    echo '|---|---|---|---|---|'
    cat "$table"
} >"$scratch/docs"
if [[ ${UPDATE_DOCS-} == 1 ]]; then cp "$scratch/docs" "$docs"; fi
expect diff -u "$docs" "$scratch/docs"
