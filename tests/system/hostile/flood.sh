# A user without rights floods cgpud with reads whose answers nobody reads, and others are served all the same.
. "$(dirname "$0")/../lib.sh"

as_user() { setpriv --reuid="$1" --regid=65534 --clear-groups "${@:2}"; }
pid=$(<"$CGPU_LAB/cgpud.pid")
private() { awk '/^Private_/ { kib += $2 } END { print kib * 1024 }' "/proc/$pid/smaps_rollup"; }

# 36 instances: an answer that names them all has tens of kilobytes.
for number in {1..36}; do
    job "held$number" --gpus $((number % 2)) --mem 100MiB -- sleep 600
done
all_listed() { (($(cgpuctl list -q | wc -l) == 36)); }
wait_for 60 all_listed

# flood SECONDS METHOD [FLAG…]: four processes of nobody call it; meanwhile root and another user list the instances.
flood() {
    local end=$((SECONDS + $1)) began took number before most=0 now
    local -a callers=() times=()
    before=$(private)
    for number in {1..4}; do
        as_user 65534 timeout -k 1 $(($1 + 5)) flood_calls --pause-us 4000 --seconds "$1" --method "$2" "${@:3}" >"$scratch/flood$number" 2>&1 &
        callers+=($!)
    done
    while ((SECONDS < end)); do
        for number in 0 1000; do
            began=${EPOCHREALTIME/./}
            as_user $number timeout 20 cgpuctl list -q >"$scratch/listed" 2>&1 || fail "list of user $number: $(<"$scratch/listed")"
            took=$((${EPOCHREALTIME/./} - began))
            times+=("$took")
            expect_equal "instances listed" "$(wc -l <"$scratch/listed")" 36
        done
        now=$(private)
        ((now < most)) || most=$now
    done
    wait "${callers[@]}"
    echo "$2 $(tr '\n' ';' <"$scratch/flood1") lists, in us: ${times[*]}; private memory: $before, at most $most bytes"
    # Beside other work on the machine a single one may take longer.
    took=$(printf '%s\n' "${times[@]}" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR * 9 + 9) / 10)], all[NR] }')
    expect_between "nine of ten lists beside a flood of $2, in us" "${took% *}" 0 1000000
    expect_between "the slowest list beside a flood of $2, in us" "${took#* }" 0 5000000
    expect_between "cgpud's private memory beyond what it was, in bytes" $((most - before)) -1000000000 $((16 * 1024 * 1024))
}

begin=$(private)
flood 5 GetManagedObjects
flood 3 GetManagedObjects --stay
flood 3 Describe
flood 3 GetUsage
flood 3 Examine
# Answers with descriptors: 64 that nobody reads would keep the bus from reading what cgpud sends others.
flood 3 OpenHistory --stay
expect as_user 1000 cgpuctl report

# What the floods needed is given back.
given_back() { (($(private) <= begin + 2 * 1024 * 1024)); }
wait_for 10 given_back
expect kill -0 "$pid"
