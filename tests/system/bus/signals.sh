# Sourced: the traffic on the bus during a test. start_signals; …; stop_signals; then `signals JQ-FILTER` prints a line for
# each signal of the daemon but events, `told JQ-FILTER` one for each event, and `errors` the names of its errors.
marks=0

# mark: a call that no other test makes. When the monitor has seen it, it has seen everything before it.
mark() {
    marks=$((marks + 1))
    busctl get-property org.cgpu1 /org/cgpu1 org.cgpu1.Manager "Mark$marks" >/dev/null 2>&1
    return 0
}

seen_mark() {
    has "$scratch/monitor" "\"Mark$marks\""
}

mark_and_look() {
    mark
    seen_mark
}

start_signals() {
    : >"$scratch/monitor"
    busctl --json=short monitor org.cgpu1 >"$scratch/monitor" 2>/dev/null &
    monitor=$!
    # Only received messages show that it is listening.
    wait_for 10 mark_and_look
}

stop_signals() {
    mark
    wait_for 10 seen_mark
    kill "$monitor"
    wait "$monitor" 2>/dev/null
}

all_signals() {
    grep '"type":"signal"' "$scratch/monitor" | jq -c 'select((.path // "") | startswith("/org/cgpu1"))'
}
signals() {
    all_signals | jq -c "select(.member != \"Event\") | $1"
}

# told FILTER: the events that a jq filter selects, a line each: number, time, type, message, and d, the details.
told() {
    all_signals | jq -c "select(.member == \"Event\") | .payload.data |
        {number: .[0], time: .[1], type: .[2], message: .[3], d: (.[4] | map_values(.data))} | select($1)"
}

errors() {
    grep -o '"org\.cgpu1\.Error\.[A-Za-z]*"' "$scratch/monitor" | sed -E 's/.*\.([A-Za-z]+)"/\1/'
}
