# pause and resume, by the ledger of the simulated GPU: a paused job computes nothing and keeps its memory, the other gets the whole
# GPU, and after the pause each gets its part again. Over a restart of cgpud, too.
. "$(dirname "$0")/../lib.sh"
asks=(CGPU_MEM=2GiB)
place() { cgpuctl list --json | jq -c --arg name "$1" '.[] | select(.name == $name).gpus[0] | [.paused, .weight, .target_share == 0]'; }
state() { cgpuctl list --no-legend | awk -v name="$1" '$2 == name { print $NF }'; }
why() { cgpuctl why "$1" --seconds 1 --json | jq -r '[.[0].reasons[].code] | join(" ")'; }
# stands_still NAME: it got no GPU time meanwhile.
stands_still() {
    local before
    before=$(gpu_ns "${pids[$1]}")
    sleep 1.5
    expect_equal "GPU time of $1" "$(gpu_ns "${pids[$1]}")" "$before"
}

job heavy --weight 3 -- burn --forever --kernel-us 1000
job light --weight 1 -- burn --forever --kernel-us 1000
wait_for 20 is_ready heavy
wait_for 20 is_ready light
sleep 0.5 # what was in flight before
expect_shares 4 4 heavy=75 light=25

echo "a paused job computes nothing, and the other one has the GPU"
memory=$(held "${pids[heavy]}")
expect_equal "a dry run" "$(cgpuctl pause heavy --dry-run)" 'Instance heavy: it could be paused; nothing was changed.'
expect_equal "after the dry run" "$(place heavy)" '[false,3,false]'
expect_equal "the answer" "$(cgpuctl pause heavy)" 'Instance heavy: it is paused, until it is resumed.'
sleep 0.2
expect_shares 4 0 heavy=0 light=100
expect_equal "what it has" "$(place heavy)" '[true,3,true]'
expect_equal "memory" "$(held "${pids[heavy]}")" "$memory"
expect_equal "state" "$(state heavy)" paused
expect_equal "why" "$(why heavy)" paused
expect cgpuctl pause heavy -q
in_log 'instance .*heavy.*: it is paused on GPU 0' || fail "no event"

echo "it stays paused over the death of cgpud, and so does one that is alone and of high priority"
expect lab-restart-cgpud --kill
wait_for 10 cgpuctl show heavy
expect_equal "after a restart" "$(place heavy)" '[true,3,true]'
sleep 0.5
stands_still heavy
end_job light
expect cgpuctl set-priority heavy high -q
stands_still heavy

echo "it is resumed"
expect cgpuctl set-priority heavy normal -q
job light --weight 1 -- burn --forever --kernel-us 1000
wait_for 20 is_ready light
expect_equal "the answer" "$(cgpuctl resume heavy)" 'Instance heavy: it is resumed.'
sleep 0.5
expect_shares 5 4 heavy=75 light=25

echo "weight 0 pauses, and any other weight resumes"
expect cgpuctl set-weight light 0 -q
expect_equal "light" "$(place light)" '[true,1,true]'
sleep 0.2
stands_still light
expect_error "can't be kept for the next starts" cgpuctl set-weight light 0 --persist
expect cgpuctl set-weight light 3 -q
expect_equal "light" "$(place light)" '[false,3,false]'
sleep 0.5
expect_shares 5 4 heavy=50 light=50

echo "several are paused as one, by a batch too"
expect_error 'none of the instances was changed' cgpuctl pause heavy nobody
expect_equal "heavy" "$(place heavy)" '[false,3,false]'
printf 'pause heavy light\n' | expect cgpuctl apply -q
stands_still light
stands_still heavy
expect cgpuctl resume heavy light -q
computes heavy
computes light

echo "under every policy that cgpu enforces"
for policy in fair-share preemptive weighted fixed soft; do
    expect cgpuctl set-policy 0 "$policy" -q
    expect cgpuctl pause heavy -q
    sleep 0.2
    stands_still heavy
    computes light
    expect cgpuctl resume heavy -q
    computes heavy
done

echo "where the driver divides the GPU nobody is paused, and who was computes"
expect cgpuctl pause heavy -q
expect cgpuctl set-policy 0 native -q
computes heavy
expect_equal "why" "$(why heavy)" 'paused not-measured'
cgpuctl status 2>&1 >/dev/null | grep -q 'it is paused on GPU 0, and computes there all the same' || fail "no warning"
expect_error 'pausing instance .*policy native.*Try: cgpuctl set-policy 0 proportional' cgpuctl pause light
expect cgpuctl set-policy 0 proportional -q
sleep 0.5
stands_still heavy
expect cgpuctl resume heavy -q
computes heavy
end_job heavy
end_job light
