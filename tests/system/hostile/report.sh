# A job that writes over its own report of what it computes: it takes nothing from the honest job beside it, by the ledger.
. "$(dirname "$0")/../lib.sh"
here=$(dirname "$0")
expect g++ -std=c++20 -O2 -shared -fPIC -I "$here/../../.." -o "$scratch/forge.so" "$here/forge.cpp" -lpthread

served() {
    simgpu ledger --json | jq -r --argjson pid "${pids[honest]}" \
        '"\(.now_ns) \([.processes[] | select(.pid == $pid) | .gpus[].gpu_ns] | add // 0)"'
}
# beside POLICY WEIGHT FORGERS-WEIGHT LEAST WORDS: the honest job gets at least so many per cent. A busy machine may take the
# GPU's time from it for a while, so the best of four looks counts; what the forger takes it takes in all of them.
beside() {
    local policy=$1 weight=$2 other=$3 least=$4 words=$5 best=0 before after
    expect cgpuctl set-policy 0 "$policy" -q
    job honest --mem 1GiB --weight "$weight" -- burn --forever --kernel-us 1000
    job forger --mem 1GiB --weight "$other" -- env LD_PRELOAD="$scratch/forge.so" FORGE="$words" burn --forever --kernel-us 1000
    for name in honest forger; do wait_for 20 is_ready $name; done
    sleep 1 # what the forger gains before it is found out
    for _ in 1 2 3 4; do
        before=$(served)
        sleep 1.5
        after=$(served)
        best=$(jq -n --argjson best "$best" --argjson part "$(awk '{print 100 * ($4 - $2) / ($3 - $1)}' <<<"$before $after")" \
            '[$best, $part] | max')
        jq -en "$best >= $least" >/dev/null && break
    done
    echo "$policy, weights $weight:$other, $words: the honest job has $best %"
    expect_between "the part of the honest job under $policy beside one that says '$words'" "$best" "$least" 100
    # Its own work waits for as long as its lies say; how long that is doesn't matter here.
    kill -KILL "${pids[forger]}"
    wait "${pids[forger]}" 2>/dev/null
    end_job honest
}

beside preemptive 1 1 44 "constant"
beside preemptive 1 1 44 "swings"
wait_for 5 in_log "that can't be true"
beside preemptive 1 1 44 "constant nothing-left idle"
beside weighted 9 1 80 "constant waits"
beside soft 1 1 44 "constant waits"
beside fixed 10 10 44 "swings nothing-left"
# A part of max_inst, whoever lies. Under native nothing is divided: the driver decides.
beside fair-share 1 1 3 "swings nothing-left"
