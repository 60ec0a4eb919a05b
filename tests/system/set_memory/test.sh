# A job's limit changes while it runs: raised at once, lowered to its present use, and lower only with --force.
. "$(dirname "$0")/../lib.sh"
mib=$((1024 * 1024))
asks=(CGPU_MEM=4GiB)

inside() { nsenter --mount --target "${pids[big]}" "$@"; }
# expect_alloc MIB RESULT: the result of an allocation of this size by a second process of the job.
expect_alloc() {
    inside alloc --mib "$1" >"$scratch/alloc.out" 2>&1
    expect_equal "result of $1 MiB more" "$(fact "$scratch/alloc.out" result)" "$2"
}
# refused: how many allocations of the job were refused, by cgpud; each of them has failed in a program of it.
refused() { cgpuctl show big --json | jq '.gpus[0].allocations_refused'; }
total_inside() { inside info | sed -n 's/^device.0.total_mem //p'; }

job big -- alloc --mib 3000 --hold
wait_for 20 is_ready big
expect_equal "allocations refused" "$(refused)" 0
expect_alloc 1000 "2 CUDA_ERROR_OUT_OF_MEMORY"
expect_equal "allocations refused" "$(refused)" 1
wait_for 5 in_log 'an allocation of 1000MiB on GPU GPU-.* was refused \(refusal 1\): [0-9]+MiB of its limit of 4096MiB are in use'

echo "Up: at once."
expect cgpuctl set-memory big 5GiB
expect_equal "total inside" "$(total_inside)" $((5120 * mib))
expect_alloc 1000 "0 CUDA_SUCCESS"

echo "Down: not below what is in use, and the refusal has the figure."
expect_error 'it uses 3[0-9]{3}MiB now.* Try: ' cgpuctl set-memory big 2GiB
expect_equal "total inside" "$(total_inside)" $((5120 * mib))
expect cgpuctl set-memory big 4GiB
expect_alloc 1000 "2 CUDA_ERROR_OUT_OF_MEMORY"
expect_equal "allocations refused" "$(refused)" 2

echo "By force: what it has it keeps, and it gets nothing new until it fits."
expect cgpuctl set-memory big 2GiB --force
expect_equal "total inside" "$(total_inside)" $((2048 * mib))
# Not even a context, although a program may also ask for the total.
expect_equal "allocations refused" "$(refused)" 3
expect_error 'error cuDevicePrimaryCtxRetain 2 CUDA_ERROR_OUT_OF_MEMORY' inside alloc --mib 16
expect_equal "allocations refused" "$(refused)" 4
echo "A program that tries on and on is counted each time, and its lines leave others their place."
for _ in {1..25}; do inside alloc --mib 16 >"$scratch/alloc.out" 2>&1 && fail "it got memory"; done
expect_equal "allocations refused" "$(refused)" 29
expect_between "lines of them" "$(lab-log | grep -c 'an allocation of .* was refused')" 1 20
kill -0 "${pids[big]}" || fail "the job has ended"
expect_between "bytes held" "$(held "${pids[big]}")" $((3000 * mib)) $((3300 * mib))
end_job big
wait_for 5 none_listed
wait_for 5 nothing_held
