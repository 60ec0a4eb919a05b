# Sourced by the tests of programs of every kind: one task (tests/programs/kinds) under a limit of 1 GiB, judged by the
# ledger, and a table of the results.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
limit=$((1024 * 1024 * 1024))
mib=$((1024 * 1024))
kinds=$(dirname "$(readlink -f "$(command -v alloc)")")/kinds
rows=0 bad_rows=0

# row KIND RESULT [TOTAL TAKEN LEDGER]: prints it; RESULT is `ok` or the fault.
row() {
    ((rows++)) || printf '%-30s %12s %11s %12s  %s\n' kind 'total inside' 'taken, MiB' 'ledger, MiB' result
    printf '%-30s %12s %11s %12s  %s\n' "$1" "${3--}" "${4--}" "${5--}" "$2"
    [[ $2 == ok ]] || bad_rows=$((bad_rows + 1))
}

# end_table: the test fails if a row failed.
end_table() {
    ((bad_rows == 0)) || fail "$bad_rows of $rows kinds"
    echo "$rows kinds"
}

# wrong_in FILE BYTES LEAST: the fault in a task's lines, or in the ledger's BYTES at its end, of which the programs must have
# LEAST; empty if there is none.
wrong_in() {
    local key value
    has "$1" '^error' && grep -m1 '^error' "$1" && return
    for key in total_mem mem_info_total nvml_total; do
        while read -r value; do
            ((value == limit)) || { echo "$key is $value" && return; }
        done < <(fact "$1" $key)
    done
    has "$1" '^mem_info_total' || { echo "no total" && return; }
    for key in plain pitch array array_3d mipmapped async pool physical graph; do
        [[ $(fact "$1" "refused.$key" | sort -u) == 2 ]] || { echo "$key ended with $(fact "$1" "refused.$key" | xargs)" && return; }
    done
    [[ $(fact "$1" refused.managed | sort -u) == 801 ]] || { echo "managed memory: $(fact "$1" refused.managed | xargs)" && return; }
    (($2 <= limit)) || { echo "slipped past: $2 bytes" && return; }
    value=$(fact "$1" taken | jq -s add)
    ((value >= $3 && value <= $2)) || echo "took $value bytes, expected $3 to $2"
}

# kind NAME [CONTEXTS=N] [FLAG…] -- COMMAND…: one row. The task's processes make this many contexts (1).
kind() {
    local name=$1 contexts=1 bytes taken wrong
    shift
    [[ $1 == CONTEXTS=* ]] && contexts=${1#*=} && shift
    rm -f "$scratch"/kind.*
    job kind --mem 1GiB "$@"
    local deadline=$((SECONDS + 20)) state=''
    until [[ $state ]]; do
        has "$scratch/kind.out" '^ready' && state=ready
        kill -0 "${pids[kind]}" 2>/dev/null || state=${state:-ended}
        ((SECONDS < deadline)) || state=${state:-hangs}
        [[ $state ]] || sleep 0.02
    done
    bytes=$(ledger '.gpus[0].used_bytes')
    wrong=$(wrong_in "$scratch/kind.out" "$bytes" $((limit - contexts * context_bytes - slack)))
    [[ $state == ready || $wrong == error* ]] || wrong="$state: $(tail -n 1 "$scratch/kind.err" | cut -c -100)"
    taken=$(fact "$scratch/kind.out" taken | jq -s 'add // 0')
    # The process around the task (a launcher in a namespace, a shell) may not pass a signal on.
    kill -TERM "${pids[kind]}" $(ledger '.processes[] | select(.alive and .pid > 0).pid') 2>/dev/null
    deadline=$((SECONDS + 5))
    while kill -0 "${pids[kind]}" 2>/dev/null && ((SECONDS < deadline)); do sleep 0.02; done
    kill -KILL "${pids[kind]}" 2>/dev/null && wrong=${wrong:-"does not end"}
    wait "${pids[kind]}" 2>/dev/null || wrong=${wrong:-"exit status $?"}
    wait_for 10 none_listed
    wait_for 10 nothing_held
    row "$name" "${wrong:-ok}" "$(fact "$scratch/kind.out" mem_info_total | tail -n 1)" $((taken / mib)) $((bytes / mib))
}

# learn_context_cost: makes the size of a context known to the daemon (which uses an estimate until it has measured one), and
# here: $context_bytes, in the driver's unit of memory.
learn_context_cost() {
    job first --mem 1GiB -- alloc --mib 2 --hold
    wait_for 20 is_ready first
    context_bytes=$(($(held "${pids[first]}") - 2 * mib + 2 * mib - 1))
    wait_for 15 cost_is_known
    end_job first
    wait_for 10 none_listed
    slack=$((2 * mib)) # the last piece that did not fit
}
cost_is_known() {
    local booked
    booked=$(cgpuctl list --json | jq '.[0].gpus[0].memory_used_bytes')
    ((booked - context_bytes < 4 * mib))
}
