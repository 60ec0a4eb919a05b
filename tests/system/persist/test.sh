# Settings made with --persist apply to the next job of that name, whatever it requests, over a restart of cgpud, until they
# are forgotten.
. "$(dirname "$0")/../lib.sh"
mib=$((1024 * 1024))

# start NAME SIZE: a job of that name that requests this size.
start() {
    asks=(CGPU_MEM="$2")
    job "$1" -- alloc --mib 100 --hold
    wait_for 20 is_ready "$1"
}
end() { # NAME
    end_job "$1"
    wait_for 5 no_instance "$1"
}
no_instance() { ! cgpuctl show "$1" >/dev/null 2>&1; }
inside() { nsenter --mount --target "${pids[$1]}" "${@:2}"; }
# expect_limit NAME MIB: the size that the job's programs see, and can allocate.
expect_limit() {
    expect_equal "total inside $1" "$(inside "$1" info | sed -n 's/^device.0.total_mem //p')" $(($2 * mib))
    inside "$1" alloc --mib $(($2 + 1)) >"$scratch/alloc.out" 2>&1
    expect_equal "an allocation beyond it" "$(fact "$scratch/alloc.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
    inside "$1" alloc --mib $(($2 - 700)) >"$scratch/alloc.out" 2>&1
    expect_equal "one within it" "$(fact "$scratch/alloc.out" result)" "0 CUDA_SUCCESS"
}

echo "Without --persist it holds until the instance ends, and the answer says so."
start web 4GiB
expect_equal "answer" "$(cgpuctl set-memory web 3GiB)" \
    'Instance web: memory limit 3072MiB is set, until the instance ends.'
expect_equal "kept" "$(cgpuctl list --kept --json)" '[]'
end web
start web 4GiB
expect_limit web 4096

echo "With it the next start has it, too, over a restart of cgpud."
expect_equal "answer of a dry run" "$(cgpuctl set-memory web 2GiB --persist --dry-run)" \
    'Instance web: memory limit 2048MiB could be set, and kept for the next starts of web; nothing was changed.'
expect_equal "kept" "$(cgpuctl list --kept --json)" '[]'
expect_equal "answer" "$(cgpuctl set-memory web 2GiB --persist)" \
    'Instance web: memory limit 2048MiB is set, and kept for the next starts of web.'
expect_limit web 2048
expect_equal "answer as JSON" "$(cgpuctl set-weight web 3 --persist --json | jq -c '[.weight, .kept, .kept_for]')" '[3,true,"web"]'
end web
expect lab-restart-cgpud
expect_equal "kept" "$(cgpuctl list --kept --json | jq -c '.[] | [.name, .owner, .device, .memory_limit_bytes, .weight, .high_priority]')" \
    "[\"web\",0,0,$((2048 * mib)),3,null]"
start web 5GiB
expect_limit web 2048
expect_equal "weight" "$(cgpuctl show web --json | jq '.gpus[0].weight')" 3
expect has "$scratch/web.err" 'what --persist has kept for "web" goes before what it asks for: memory limit 2GiB, weight 3\. Try: '
wait_for 5 in_log 'what --persist has kept for "web" goes before what it asks for'

echo "Another name gets what it asks for."
start other 1GiB
expect_limit other 1024
end other
end web

echo "What is kept and doesn't fit is refused, naming it and the way out."
start big 15GiB
expect_error '--persist has kept: memory limit 2GiB, weight 3\).* is free\. Try: .*cgpuctl forget "web"' \
    env CGPU_MEM=512MiB cgpuctl run --name web -- true
end big

echo "Forgotten, it is as before; no instance need be there."
expect_error 'nothing is kept for it.*Try: ' cgpuctl forget webs
expect cgpuctl forget web --dry-run -q
expect_equal "names" "$(cgpuctl list --kept -q)" web
expect_equal "answer" "$(cgpuctl forget web)" 'web: what was kept is forgotten; its next start gets what it asks for.'
cgpuctl forget web 2>/dev/null
expect_equal "exit status" $? 3
start web 1GiB
expect_limit web 1024
end web
wait_for 5 nothing_held
