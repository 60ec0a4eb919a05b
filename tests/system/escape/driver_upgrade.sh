# The host's driver is upgraded under a running job, as a package manager does it: another file takes the name. What runs
# computes on and keeps its limit, a new job has the new file and its limit. The old job has lost its front (the kernel takes
# a mount away with the file below it): a process that starts in it later is found as outside the module, in time.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/found.sh"
mib=$((1024 * 1024))
limit=$((1024 * mib))
patient=$(dirname "$(readlink -f "$(command -v alloc)")")/kinds/patient
libraries=/usr/lib/x86_64-linux-gnu
driver=$(readlink -f "$libraries/libcuda.so.1")
nvml=$(readlink -f "$libraries/libnvidia-ml.so.1")

replace() { # TEXT
    local file
    for file in "$driver" "$nvml"; do
        cp "$file" "$file.dpkg-new" && echo "$1" >>"$file.dpkg-new" && mv "$file.dpkg-new" "$file" || fail "replacing $file"
    done
}
sum_of() {
    sha256sum <"$1" | cut -d ' ' -f 1
}
# answered: how often the patient program has tried; asks: has it try once more; its last answer.
answered() {
    grep -c '^done' "$scratch/old.patient"
}
has_answered() {
    (($(answered) > $1))
}
ask_patient() {
    local before
    before=$(answered)
    kill -USR1 "$(cat "$scratch/old.patient.pid")"
    wait_for 30 has_answered "$before"
    fact "$scratch/old.patient" alloc | tail -n 1
}
computes_on() { # PID
    local before
    before=$(gpu_ns "$1")
    wait_for 5 more_than "$before" "$1"
}
is_at_work() { # FILE
    has "$1" '^ready'
}

for word in report refuse kill; do
    policy "$word"
    rm -f "$scratch"/old* "$scratch/late.out"
    # Two that run: one computes, one takes 128 MiB when it is told to. And one that starts later, and takes more than the limit.
    job old --mem 1GiB -- bash -c 'burn --forever >"$0/old.burn" & echo $! >"$0/old.burn.pid"
        "$1" >"$0/old.patient" & echo $! >"$0/old.patient.pid"
        until [ -e "$0/old.go" ]; do sleep 0.05; done
        (echo "pid $BASHPID"; echo "holds_since $(date +%s%3N)"; exec alloc --mib 3000 --hold) >"$0/late.out" &
        wait $!; echo "status $?"; wait' "$scratch" "$patient"
    for name in burn patient; do wait_for 20 is_at_work "$scratch/old.$name"; done
    burning=$(cat "$scratch/old.burn.pid") taking=$(cat "$scratch/old.patient.pid")
    expect_equal "what the running program gets before" "$(ask_patient)" 0
    before=$(sum_of "$driver")
    replace "$word"
    after=$(sum_of "$driver")

    computes_on "$burning"
    expect_equal "what the running program gets after" "$(ask_patient)" 0
    got=0
    for ((i = 0; i < 8 && got == 0; i++)); do got=$(ask_patient); done
    expect_equal "what it gets at the limit" "$got" 2
    holds=$(($(held "$burning") + $(held "$taking")))
    expect_between "bytes of the old job" "$holds" $((limit - 256 * mib)) "$limit"
    expect_equal "the driver behind the old job's" "$(drivers_in "$burning" | sort -u)" "$before"

    job new --mem 1GiB -- alloc --mib 16 --until-fail --hold
    wait_for 20 is_ready new
    expect_equal "result of the new job" "$(fact "$scratch/new.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
    expect_between "bytes of the new job" "$(held "${pids[new]}")" $((limit - 80 * mib)) "$limit"
    expect_equal "the driver behind the new job's" "$(drivers_in "${pids[new]}" | sort -u)" "$after"
    cgpuctl run --mem 1GiB -- info >"$scratch/info" || fail "no new job can be started"
    expect_equal "totals of a new job" \
        "$(grep -oE '^device\.0\.[a-z0-9_]*total(_mem)? .*' "$scratch/info" | sed 's/.* //' | sort -u)" "$limit"

    : >"$scratch/old.go"
    wait_for 20 has "$scratch/late.out" '^pid'
    late=$(fact "$scratch/late.out" pid)
    found=$(took late "$late" "$outside") || fail "the late process of the old job was not found"
    expect_in_time "the late process of the old job" "$found"
    echo "$word: the late process was found after $found ms, from its start"
    if [[ $word == kill ]]; then
        wait_for 4 gone "$late"
        wait_for 5 has "$scratch/old.out" '^status 137'
    else
        wait_for 20 is_at_work "$scratch/late.out"
        expect_equal "the driver of the late process" "$(drivers_in "$late" | sort -u)" "$after"
        expect has <(cgpuctl show old) "^Outside the module: +$late"
        kill -TERM "$late"
    fi
    # The others were left alone.
    computes_on "$burning"
    expect kill -TERM "$burning" "$taking"
    expect is_ready new
    end_job new
    wait "${pids[old]}"
    wait_for 10 none_listed
done
