# A program that holds memory executes another one: the process is the same, and its former lease is free again.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

python3 -c 'import ctypes' 2>/dev/null || skip "python3 has no ctypes here"
cat >"$scratch/becomes.py" <<'PYTHON'
import ctypes, os, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(3000 << 20)) == 0
os.execvp(sys.argv[1], sys.argv[1:])
PYTHON
job changed -- python3 "$scratch/becomes.py" alloc --mib 3800 --hold
wait_for 20 is_ready changed
expect_equal "result after the exec" "$(fact "$scratch/changed.out" result)" "0 CUDA_SUCCESS"
expect_between "bytes held" "$(held "${pids[changed]}")" $((3800 << 20)) "$limit_of_four"
end_job changed
wait_for 5 none_listed
wait_for 5 nothing_held
