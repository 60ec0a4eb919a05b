# cgpuctl trace, judged by the GPUs' own ledger: three tenants of different weights with all that happens to them, readers that
# stop, die or end early, and a cgpud that dies.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
asks=(ALIYUN_COM_GPU_MEM_CONTAINER=3 ALIYUN_COM_GPU_MEM_DEV=15) # 3226MiB
mib=$((1024 * 1024))

# trace NAME OPTION…: in the background; its file is $scratch/NAME.json, its process tracers[NAME]. Returns when it has begun.
declare -A tracers=()
trace() {
    local name=$1
    shift
    cgpuctl trace 0 -o "$scratch/$name.json" "$@" >"$scratch/$name.out" 2>"$scratch/$name.err" </dev/null &
    tracers[$name]=$!
    wait_for 10 test -s "$scratch/$name.json"
}
# end_trace NAME STATUS: it ends by itself, or has been told to, with this exit status.
end_trace() {
    wait "${tracers[$1]}"
    local status=$?
    expect_equal "exit status of the trace $1, which said $(cat "$scratch/$1.out" "$scratch/$1.err")" $status "$2"
}
# of_trace NAME FILTER
of_trace() { jq -r "$2" "$scratch/$1.json" || fail "$1.json is no JSON"; }
is_traceable() { cgpuctl trace 0 --seconds 1 -o "$scratch/again.json" >/dev/null 2>&1; }

echo "Three tenants from their start to their end: turns and work add up to the ledger's GPU time."
expect cgpuctl set-policy 0 weighted
trace whole --seconds 120
expect_error 'GPU 0: it is traced already, by user id 0, process [0-9]+\. Try: ' cgpuctl trace 0 -o "$scratch/second.json"
[[ ! -e $scratch/second.json ]] || fail "a refused trace made a file"
# Their turns last 20 to 50 ms: how late a thread wakes up at the beginning of a turn counts little.
job one --gpus 0 --weight 4 -- burn --forever --kernel-us 1000
job two --gpus 0 --weight 5 -- burn --forever --kernel-us 500
job three --gpus 0 --weight 10 -- burn --forever --kernel-us 2000
for name in one two three; do wait_for 20 is_ready "$name"; done
sleep 5
expect cgpuctl set-weight one 3
job full --gpus 0 -- alloc --mib 20000 --chunk-mib 256 --until-fail --hold
wait_for 20 is_ready full
wait_for 5 is_counted full
end_job full
expect cgpuctl set-policy 0 preemptive
sleep 0.5
for name in one two three; do end_job "$name"; done
wait_for 5 none_listed
kill -INT "${tracers[whole]}"
end_trace whole 0
simgpu ledger --json >"$scratch/ledger"
expect has "$scratch/whole.out" 'whole.json: [0-9.]+s of GPU 0 with 4 instances, [0-9]+ records\. It took .* of cgpud.s time \([0-9.]+% of one CPU\)'
expect python3 "$here/judge.py" "$scratch/whole.json" "$scratch/ledger" "one=${pids[one]}" "two=${pids[two]}" "three=${pids[three]}"
expect_equal "policies in it" "$(of_trace whole '[.traceEvents[] | select(.name == "setting-changed").args.message |
    select(test("policy preemptive is set, instead of weighted"))] | length')" 1
expect_between "refusals in it" "$(of_trace whole '[.traceEvents[] | select(.name == "allocations refused").args.count] | add // 0')" 1 100
expect_equal "admissions and ends in it" "$(of_trace whole '[.traceEvents[].name] |
    [map(select(. == "instance-admitted")), map(select(. == "ended"))] | map(length) | join(" ")')" '4 4'
expect_between "the memory that an instance used, at most" "$(of_trace whole '[.traceEvents[] | select(.ph == "C" and .name == "memory used (bytes)").args.used] | max')" \
    $((2900 * mib)) $((3226 * mib))
expect_equal "its end" "$(of_trace whole '.otherData | [.complete, .records_dropped, .gpu] | map(tostring) | join(" ")')" 'true 0 0'

echo "A second of it, on standard output; nobody else may see it, and mistakes are told."
job one --gpus 0 --weight 1 -- burn --forever --kernel-us 1000
job two --gpus 0 --weight 2 -- burn --forever --kernel-us 500
for name in one two; do wait_for 20 is_ready "$name"; done
expect cgpuctl trace 0 --seconds 1 -o - >"$scratch/stdout.json"
expect_between "seconds on standard output" "$(of_trace stdout '.otherData.duration_us / 1e6')" 1 2
expect_error 'only root may|org.cgpu1.trace' setpriv --reuid 65534 --regid 65534 --clear-groups cgpuctl trace 0 -o -
expect_error 'there is no such GPU' cgpuctl trace 9 -o -
expect_error 'it must be from 1 to 3600' cgpuctl trace 0 --seconds 0 -o -
expect_error 'a file for the trace is missing' cgpuctl trace 0
expect_error 'it works on this machine only' cgpuctl --host elsewhere trace 0 -o -

echo "A reader that stops holds nobody up, and is given up; what it had is a valid file."
trace stopped --seconds 2
kill -STOP "${tracers[stopped]}"
for name in one two one two; do computes "$name"; done
wait_for 20 is_traceable
kill -CONT "${tracers[stopped]}"
wait "${tracers[stopped]}"
expect_between "events of it" "$(of_trace stopped '.traceEvents | length')" 10 1000000

echo "A reader that is killed ends the trace."
trace killed --seconds 3600
kill -KILL "${tracers[killed]}"
wait_for 5 is_traceable

echo "cgpud is killed, and then stopped: what came before is a valid file."
trace broken --seconds 3600
sleep 1
expect lab-restart-cgpud --kill
end_trace broken 1
expect has "$scratch/broken.err" 'the trace broke off, because cgpud has ended'
expect_equal "whether it is complete" "$(of_trace broken .otherData.complete)" false
expect_between "events of it" "$(of_trace broken '.traceEvents | length')" 10 1000000
for name in one two; do computes "$name"; done
trace ended --seconds 3600
expect lab-restart-cgpud
end_trace ended 0
expect_equal "whether it is complete" "$(of_trace ended .otherData.complete)" true
for name in one two; do end_job "$name"; done
wait_for 5 none_listed
