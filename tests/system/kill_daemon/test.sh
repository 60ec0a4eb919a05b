# cgpud is killed while two jobs compute: they compute on. The next cgpud has them again and keeps limit and shares.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

expect cgpuctl set-policy 0 weighted
# A shell in the job takes commands while the burning continues.
in_job='burn --forever --kernel-us 1000 & burning=$!; echo $burning >"$0.pid"; echo ready
    until [[ -e $0.go ]]; do sleep 0.05; done
    alloc --mib 100 --until-fail >"$0.alloc"; echo done >>"$0.alloc"
    until [[ -e $0.end ]]; do sleep 0.05; done
    kill -TERM $burning; wait $burning'
for weight in 1 2; do
    job "job$weight" --weight $weight -- bash -c "$in_job" "$scratch/job$weight"
done
for name in job1 job2; do
    wait_for 20 is_ready "$name"
    pids[burning-$name]=$(cat "$scratch/$name.pid")
    wait_for 20 more_than 0 "${pids[burning-$name]}"
done
before=$(cgpuctl list -q | sort)

stop=$(cat "$CGPU_LAB/cgpud.pid")
kill -KILL "$stop"
computes burning-job1
computes burning-job2
sleep 2
computes burning-job1
computes burning-job2
expect lab-restart-cgpud --kill
expect_equal "jobs after the restart" "$(cgpuctl list -q | sort)" "$before"
expect_equal "policy after the restart" "$(cgpuctl status --json | jq -r '.gpus[0].policy_name')" weighted
sleep 0.5
expect_shares 8 3 burning-job1=33.3 burning-job2=66.7
touch "$scratch/job1.go"
wait_for 20 has "$scratch/job1.alloc" '^done'
expect_equal "an allocation too much" "$(fact "$scratch/job1.alloc" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
expect_between "MiB allocated below the limit" "$(fact "$scratch/job1.alloc" allocated_mib)" 3600 4301

touch "$scratch/job1.end" "$scratch/job2.go" "$scratch/job2.end"
wait "${pids[job1]}"
expect_equal "exit status of job1" $? 0
wait "${pids[job2]}"
expect_equal "exit status of job2" $? 0
wait_for 5 none_listed
wait_for 5 nothing_held
