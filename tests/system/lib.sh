# Sourced by the system tests: short functions for their expectations. A test ends at the first failed expectation, and then
# shows cgpud's log.
set -u
scratch=$(mktemp -d) || exit 1
trap 'finish $?' EXIT

finish() { # STATUS
    if (($1 != 0 && $1 != 77)) && [[ -n ${CGPU_LAB-} ]]; then
        tail -n 5 "$scratch"/*.out "$scratch"/*.err
        echo "--- cgpud's log"
        lab-log | tail -n 60
        echo "--- the ledger, a line each process that lives"
        simgpu ledger --json | jq -c '.processes[] | select(.alive)'
        echo "$failed" # once more, where it is seen when only the end is shown
    fi
    rm -rf "$scratch"
}

failed='It ended without saying why.'
fail() {
    failed="FAILED at ${BASH_SOURCE[-1]##*/system/}:${BASH_LINENO[-2]}: $*"
    echo "$failed" >&2
    exit 1
}

# skip REASON: the test can't be judged here.
skip() {
    echo "SKIP: $*"
    exit 77
}

# expect COMMAND…: it succeeds.
expect() {
    "$@" || fail "expected to succeed (it exited with $?): $*"
}

# expect_equal WHAT GOT WANTED
expect_equal() {
    [[ $2 == "$3" ]] || fail "$1 is '$2', expected '$3'"
}

# expect_between WHAT GOT LEAST MOST: numbers, fractions too.
expect_between() {
    jq -en --argjson got "$2" --argjson least "$3" --argjson most "$4" '$got >= $least and $got <= $most' >/dev/null ||
        fail "$1 is $2, expected $3..$4"
}

# expect_error TEXT COMMAND…: it fails and prints TEXT (a regular expression); its output is in $said.
expect_error() {
    local wanted=$1
    shift
    said=$("$@" 2>&1) && fail "expected to be refused: $*"
    grep -qE -- "$wanted" <<<"$said" || fail "refused, but without /$wanted/: $* said: $said"
}

# wait_for SECONDS COMMAND…: until it succeeds.
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || fail "waited in vain for: $*"
        sleep 0.05
    done
}

# has FILE TEXT: whether a line of the file matches.
has() {
    grep -qE -- "$2" "$1" 2>/dev/null
}

# in_log TEXT: whether cgpud has logged a line that matches.
in_log() {
    grep -qE -- "$1" <(lab-log)
}

# --- jobs

declare -A pids=() # of the jobs, by name; a job's process becomes the command it runs
asks=()            # NAME=VALUE… in the environment of the jobs that are started
four_of_15=(ALIYUN_COM_GPU_MEM_CONTAINER=4 ALIYUN_COM_GPU_MEM_DEV=15)
limit_of_four=$((4301 * 1024 * 1024)) # bytes, of a card of 16130 MiB

# job NAME [FLAG…] -- COMMAND…: `cgpuctl run` in the background; its output is in $scratch/NAME.out and .err
job() {
    local name=$1
    shift
    # Before the job has begun, the output of an earlier one of the same name must not be taken for its own.
    rm -f "$scratch/$name.out" "$scratch/$name.err"
    env "${asks[@]}" cgpuctl run --name "$name" "$@" >"$scratch/$name.out" 2>"$scratch/$name.err" </dev/null &
    pids[$name]=$!
}

# is_ready NAME: the job's program has printed that it is ready.
is_ready() {
    kill -0 "${pids[$1]}" 2>/dev/null || fail "job $1 has ended: $(cat "$scratch/$1.out" "$scratch/$1.err")"
    has "$scratch/$1.out" '^ready'
}

# end_job NAME: asks it to end; it does, with exit status 0.
end_job() {
    kill -TERM "${pids[$1]}"
    wait "${pids[$1]}"
    expect_equal "exit status of job $1" $? 0
}

# fact FILE KEY: the value in its line `KEY VALUE`.
fact() {
    sed -n "s/^$2 //p" "$1"
}

# drivers_in PID: the sums of the files that a process has loaded as libcuda, without the front.
drivers_in() {
    local range
    while read -r range; do
        grep -qa cgpuroom "/proc/$1/map_files/$range" || sha256sum <"/proc/$1/map_files/$range" | cut -d ' ' -f 1
    done < <(sed -n 's/^\([^ ]*\) r.xp .*libcuda\.so.*/\1/p' "/proc/$1/maps")
}

none_listed() {
    [[ -z $(cgpuctl list -q) ]]
}

# --- the simulated GPUs' own ledger: the only judge of bytes and GPU time

# ledger FILTER [JQ-ARGUMENT…]
ledger() {
    local filter=$1
    shift
    simgpu ledger --json | jq -r "$@" "$filter"
}

# held PID [GPU]: bytes that this process holds.
held() {
    ledger '[.processes[] | select(.pid == $pid and .alive) | .gpus[] | select(.gpu == $gpu).bytes] | add // 0' \
        --argjson pid "$1" --argjson gpu "${2:-0}"
}

# is_counted NAME [GPU]: the use that cgpud shows of this job is what its first process holds. A new context counts at its
# estimate until the driver's figure for it has been read (docs/isolation.md).
is_counted() {
    [[ $(cgpuctl list --json | jq --arg name "$1" --argjson gpu "${2:-0}" \
        '.[] | select(.name == $name).gpus[] | select(.index == $gpu).memory_used_bytes') == "$(held "${pids[$1]}" "${2:-0}")" ]]
}

# gpu_ns PID [GPU]: GPU time that this process has had, in nanoseconds.
gpu_ns() {
    ledger '[.processes[] | select(.pid == $pid and .alive) | .gpus[] | select(.gpu == $gpu).gpu_ns] | add // 0' \
        --argjson pid "$1" --argjson gpu "${2:-0}"
}

# computes NAME: the job gets GPU time now.
computes() {
    local before
    before=$(gpu_ns "${pids[$1]}")
    wait_for 5 more_than "$before" "${pids[$1]}"
}
more_than() {
    (($(gpu_ns "$2") > $1))
}

nothing_held() {
    [[ $(ledger '[.gpus[].used_bytes] | add') == 0 ]]
}

# shares SECONDS NAME…: the share of GPU 0 that each of these jobs got meanwhile, in per cent of what they got together.
shares() {
    local seconds=$1 name wanted=()
    shift
    for name in "$@"; do wanted+=("${pids[$name]}"); done
    simgpu ledger --json >"$scratch/ledger.before"
    sleep "$seconds"
    simgpu ledger --json >"$scratch/ledger.after"
    jq -rn --slurpfile before "$scratch/ledger.before" --slurpfile after "$scratch/ledger.after" '
        def served($ledger; $pid): [$ledger.processes[] | select(.pid == $pid and .alive) | .gpus[] |
            select(.gpu == 0).gpu_ns] | add // 0;
        [$ARGS.positional[] | tonumber | served($after[0]; .) - served($before[0]; .)] |
        add as $all | map(if $all > 0 then . * 100 / $all else 0 end) | map(. * 100 | round / 100) | join(" ")
    ' --args "${wanted[@]}"
}

# expect_shares SECONDS POINTS NAME=PERCENT…: the shares, each within this many points, over two fifths of these seconds; where
# they are not, over all of them: a moment in which the machine was busy, or in which the shares were still others, doesn't count.
# Shares that are wrong are so in both.
expect_shares() {
    local seconds=$1 points=$2 pair got names=() number span
    shift 2
    for pair in "$@"; do names+=("${pair%%=*}"); done
    for span in "$(jq -n "$seconds * 0.4")" "$seconds"; do
        read -r -a got <<<"$(shares "$span" "${names[@]}")"
        echo "shares of ${names[*]} over $span s: ${got[*]} %"
        ! are_shares "$points" "${got[*]}" "$@" || return 0
    done
    number=0
    for pair in "$@"; do
        expect_between "share of ${pair%%=*} in per cent" "${got[number]}" \
            "$(jq -n "${pair#*=} - $points")" "$(jq -n "${pair#*=} + $points")"
        number=$((number + 1))
    done
}

# are_shares POINTS SHARES NAME=PERCENT…: whether each of these shares is within so many points of its per cent.
are_shares() {
    jq -en --argjson points "$1" --arg got "$2" '[$got | splits(" ") | tonumber] as $got |
        [$ARGS.positional[] | split("=")[1] | tonumber] | [., $got] | transpose | all(.[0] - .[1] | fabs <= $points)' --args "${@:3}" >/dev/null
}

# exposure UNIT MOST: what systemd-analyze says of the unit's protections, at most MOST tenths. Before systemd 250 it can't judge that.
exposure() {
    local options=(--no-pager)
    if grep -q -e --threshold <(systemd-analyze --help); then options+=(--threshold="$2"); fi
    systemd-analyze security "$1" "${options[@]}"
}
