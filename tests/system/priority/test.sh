# High priority: the policy doesn't apply to the instance while it is busy, up to the GPU's prio_ratio, which is changed
# meanwhile; and a waking high-priority instance gets the GPU sooner than a normal one.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")
expect cgpuctl set-policy 0 weighted

job heavy --weight 4 -- burn --forever --kernel-us 1000
job quick --weight 1 --prio high -- burn --forever --kernel-us 1000
wait_for 20 is_ready heavy
wait_for 20 is_ready quick
sleep 0.5 # what was in flight before
echo "half of the GPU, as cgpud.yaml says"
expect_shares 5 4 heavy=50 quick=50
expect cgpuctl set-prio-ratio 0 80
sleep 0.2
expect_shares 5 4 heavy=20 quick=80
expect cgpuctl set-priority quick normal
sleep 0.2
expect_shares 5 4 heavy=80 quick=20
expect cgpuctl set-priority quick high --dry-run
expect_equal "priority after --dry-run" "$(cgpuctl show quick --json | jq .gpus[0].high_priority)" false
expect cgpuctl set-priority quick high
expect_equal "priority" "$(cgpuctl show quick --json | jq .gpus[0].high_priority)" true
expect_equal "prio_ratio" "$(cgpuctl show 0 --json | jq .prio_ratio)" 0.8
expect_error "prio_ratio 19.*20 to 99" cgpuctl set-prio-ratio 0 19
expect_error "prio_ratio 100.*20 to 99" cgpuctl set-prio-ratio 0 100
expect_error "there is no such. Try: high or normal" cgpuctl set-priority quick highest
echo "all of it survives cgpud"
expect lab-restart-cgpud --kill
wait_for 10 cgpuctl show quick
expect_equal "priority" "$(cgpuctl show quick --json | jq .gpus[0].high_priority)" true
expect_equal "prio_ratio" "$(cgpuctl show 0 --json | jq .prio_ratio)" 0.8
sleep 0.5
expect_shares 5 4 heavy=20 quick=80
end_job quick

# began PRIORITY: how long a waking instance waited for the GPU to begin, the median, in ns.
began() {
    job waker --weight 1 --prio "$1" -- waker --count 60 --idle-ms 30
    wait "${pids[waker]}" || fail "the waker failed: $(cat "$scratch/waker.err")"
    sed -n 's/^began_ns //p' "$scratch/waker.out" | sort -n | sed -n 30p
}
echo "a waking instance"
with=$(began high)
without=$(began normal)
echo "in the middle it waited $with ns with high priority, $without ns without"
((with < without)) || fail "high priority brought nothing"
preempted() { cgpuctl show heavy --json | jq -e '.gpus[0].preemptions > 0' >/dev/null; }
wait_for 1 preempted
end_job heavy
