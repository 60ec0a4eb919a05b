# The steps that ./check counts, each with its log, its line and its time. Sourced by ./check.
logs=build/check
minutes=$logs/minutes.tsv # a line a step: name, seconds, how it ended
waiting=()                # what is left to later commits
to_long=()                # what only --long does: what the time of a step did not reach
failures=()               # names of what failed
second_try=()             # tests that failed at first
passed=0 failed=0 skipped=0
declare -A step_failed=()
running='' # the process group of the step that runs
lane=''    # the session of the steps that run beside the others
lower=(.ci/idle)

stop() { # SIGNAL
    [[ -z $running ]] || kill -TERM -- "-$running" 2>/dev/null
    [[ -z $lane ]] || pkill -TERM -s "$lane"
    trap - "$1"
    kill -s "$1" $$
}
trap 'stop INT' INT
trap 'stop TERM' TERM
trap 'stop HUP' HUP

start_steps() {
    mkdir -p "$logs"
    rm -f "$logs"/*.log "$logs"/*.xml "$logs"/*.seconds "$logs"/*.ended "$minutes"
    began=$SECONDS
}

# time_left MOST: seconds of the time limit that are left, at most MOST, at least 1.
time_left() {
    local left=$((time_limit - (SECONDS - began)))
    ((left < $1)) || left=$1
    ((left > 1)) || left=1
    echo "$left"
}

# if_time SECONDS step NAME …: runs the step if this much of the time is left; else skips it.
if_time() {
    local needed=$1
    shift
    if (($(time_left "$needed") >= needed)); then
        "$@"
    else
        step_failed[$2]=1 # what needs it must not count on it
        skip "$2" "less than $((needed / 60)) minutes are left of this run. Try: ./check --long"
    fi
}

report() { # WORD NAME TEXT SECONDS
    printf '%-8s %-16s %-36s %5d s\n' "$1" "$2" "$3" "$4"
    printf '%s\t%d\t%s\n' "$2" "$4" "$1" >>"$minutes"
}

# take_turn ARRAY: keeps that of its two steps whose turn it is (.ci/turn); the last line names the other. Both, if none is
# chosen.
take_turn() {
    local -n two=$1
    case $(.ci/changed | .ci/turn "${two[@]}") in
        "${two[0]}") waiting+=("${two[1]}") && two=("${two[0]}") ;;
        "${two[1]}") waiting+=("${two[0]}") && two=("${two[1]}") ;;
    esac
}

show_end() { # NAME
    echo "         the end of $logs/$1.log:"
    tail -n 40 "$logs/$1.log" | sed 's/^/         | /'
}

skip() { # NAME REASON
    skipped=$((skipped + 1))
    printf '%s\t0\tskipped\n' "$1" >>"$minutes"
    printf '%-8s %-16s %s\n' skipped "$1" "$2"
}

# limited SECONDS COMMAND…: runs the command (or function), and ends it when its time is over.
limited() {
    local limit=$1 watcher status
    shift
    set -m # a process group of its own, so that all of it can be ended
    "$@" </dev/null &
    running=$!
    set +m
    {
        sleep "$limit" && echo "Ended after $limit s." && kill -TERM -- "-$running" && sleep 10 &&
            kill -KILL -- "-$running"
    } 2>/dev/null &
    watcher=$!
    wait "$running"
    status=$?
    running=''
    pkill -P "$watcher" 2>/dev/null
    kill "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null
    return "$status"
}

# step NAME SECONDS COMMAND…: counts as one test. The command exits with 77 to be skipped; the last line that it wrote says
# why.
step() {
    local name=$1 limit=$2 started=$SECONDS
    shift 2
    limited "$limit" "$@" >"$logs/$name.log" 2>&1
    count "$name" $? $((SECONDS - started))
}

# beside LINE…: begins these steps (.ci/beside) at idle priority: name, seconds and command of each. await counts them.
beside() {
    rm -f "$logs/enough"
    printf '%s\n' "$@" | setsid "${lower[@]}" .ci/beside &
    lane=$!
}

# await NAME [SECONDS]: counts a step that was begun by beside, with the seconds for which it was waited. A step that can end early
# is told by the file build/check/enough that it has to, after SECONDS.
await() {
    local name=$1 patience=${2-} started=$SECONDS status=1 took
    while [[ ! -e $logs/$name.ended ]] && kill -0 "$lane" 2>/dev/null; do
        [[ -z $patience ]] || ((SECONDS - started < patience)) || touch "$logs/enough"
        sleep 0.2
    done
    read -r status took 2>/dev/null <"$logs/$name.ended" || echo "It did not end." >>"$logs/$name.log"
    count "$name" "$status" $((SECONDS - started)) "${took:+$took s beside other steps}"
}

# count NAME STATUS SECONDS [TEXT]: counts a step that ended with this exit status. TEXT: if the step says nothing itself.
count() {
    local name=$1 status=$2 seconds=$3 said
    case $status in
        0)
            passed=$((passed + 1))
            said=$(grep '^check: ' "$logs/$name.log" | tail -n 1 | cut -c8-)
            report passed "$name" "${said:-${4-}}" "$seconds"
            mapfile -t -O "${#to_long[@]}" to_long < <(sed -n 's/^check: .*, left to --long: //p' "$logs/$name.log")
            ;;
        77) skip "$name" "$(tail -n 1 "$logs/$name.log")" ;;
        *)
            failed=$((failed + 1))
            step_failed[$name]=1
            failures+=("$name")
            report FAILED "$name" "exit status $status" "$seconds"
            show_end "$name"
            ;;
    esac
    return 0
}

# run_ctest RESULT PRESET CTEST-ARGUMENT…: sets good, bad and out. Without a readable result it counts as one failure, and so does a
# result without any test: ctest writes one even if it found none.
run_ctest() {
    local result=$1 preset=$2
    shift 2
    limited 3600 ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
        --output-junit "$PWD/$logs/$result.xml" "$@" >"$logs/$result.log" 2>&1
    read -r good bad out < <(.ci/junit "$logs/$result.xml" 2>>"$logs/$result.log" || echo 0 1 0)
    ((good + bad + out > 0)) || bad=1
}

# sanitizer_spoke NAME: whether a sanitizer reported why a test failed. Such a test has no second try: the fault exists, even
# if it doesn't happen again.
sanitizer_spoke() {
    grep -qE 'WARNING: ThreadSanitizer|ERROR: (Address|Leak)Sanitizer|: runtime error: ' "$logs/$1.log"
}

# tests NAME PRESET CTEST-ARGUMENT…: the tests of build/PRESET, each counted. Up to three that fail have a second try, by
# themselves, and the last line names those that needed it.
tests() {
    local retry=3 started=$SECONDS good=0 bad=0 out=0 build_step=build results all_good all_out
    local name=$1 preset=$2
    shift 2
    [[ $preset == release ]] || build_step=build-$preset
    if [[ -v step_failed[$build_step] ]]; then
        skip "$name" "build/$preset was not built"
        return
    fi
    run_ctest "$name" "$preset" "$@"
    results=("$name")
    if ((bad > 0 && bad <= retry)) && ! sanitizer_spoke "$name" &&
        [[ -n $(.ci/junit --failed "$logs/$name.xml" 2>/dev/null) ]]; then
        all_good=$good all_out=$out
        run_ctest "$name-again" "$preset" --rerun-failed
        good=$((good + all_good)) out=$((out + all_out))
        results+=("$name-again")
        mapfile -t -O "${#second_try[@]}" second_try < <(comm -23 <(.ci/junit --failed "$logs/$name.xml" | sort) \
            <(.ci/junit --failed "$logs/$name-again.xml" 2>/dev/null | sort))
    fi
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + out))
    report "$( ((bad)) && echo FAILED || echo passed)" "$name" "$good passed, $bad failed, $out skipped" $((SECONDS - started))
    .ci/junit --seconds "$logs/$name.xml" >"$logs/$name.seconds" 2>/dev/null
    # What takes a check's time is named in it.
    ((SECONDS - started < 300)) || head -n 8 "$logs/$name.seconds" | sed 's/^/         /'
    ((!out)) || .ci/junit --skipped "$logs/$name.xml" | sed 's/^/         skipped: /'
    for result in "${results[@]}"; do
        .ci/junit --output "$logs/$result.xml" 2>/dev/null | sed 's/^/         /'
    done
    ((!bad)) || show_failed "${results[-1]}"
}

# show_failed RESULT: keeps the names for the last line; if there is no readable result, shows the end of the log.
show_failed() {
    local -a names
    mapfile -t names < <(.ci/junit --failed "$logs/$1.xml" 2>/dev/null)
    ((${#names[@]})) || show_end "$1"
    failures+=("${names[@]}")
}

# end_steps: the last line, and the exit status.
end_steps() {
    local line="$passed passed, $failed failed"
    ((!skipped)) || line+=", $skipped skipped"
    ((!${#second_try[@]})) || line+="; passed at the second try: ${second_try[*]}"
    ((!${#waiting[@]})) || line+="; left to later commits: ${waiting[*]}"
    ((!${#to_long[@]})) || line+="; left to --long: ${to_long[*]}"
    ((!${#failures[@]})) || echo "failed: ${failures[*]}"
    echo "$line"
    ((failed == 0))
    exit
}
