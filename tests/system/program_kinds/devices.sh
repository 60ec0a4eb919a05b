# However a program numbers its GPUs, each has its own limit, and GPUs of others can't be used.
. "$(dirname "$0")/lib.sh"
asks=(ALIYUN_COM_GPU_MEM_CONTAINER=3,1 ALIYUN_COM_GPU_MEM_DEV=15)
mapfile -t uuids < <(cgpuctl status --json | jq -r '.gpus | sort_by(.index)[].uuid')
three=$((3226 * mib)) one=$((1075 * mib)) # 3/15 and 1/15 of 16130 MiB

# numbered LIST TOTAL…: the job's GPUs by this CUDA_VISIBLE_DEVICES, in order, have these totals and the right names.
numbered() {
    local list=$1 number=0 total wanted
    shift
    job numbered --gpus 0,2 -- env CUDA_VISIBLE_DEVICES="$list" info
    wait "${pids[numbered]}" || fail "info with $list: $(cat "$scratch/numbered.out" "$scratch/numbered.err")"
    for total in "$@"; do
        wanted=${uuids[0]}
        ((total == one)) && wanted=${uuids[2]}
        expect_equal "GPU $number of $list" "$(fact "$scratch/numbered.out" "device.$number.uuid")" "$wanted"
        for way in total_mem mem_info_total nvml_v1_total nvml_v2_total; do
            expect_equal "$way of GPU $number of $list" "$(fact "$scratch/numbered.out" "device.$number.$way")" "$total"
        done
        number=$((number + 1))
    done
    expect_equal "GPUs of $list" "$(fact "$scratch/numbered.out" devices)" $number
    wait_for 10 none_listed
    echo "CUDA_VISIBLE_DEVICES=$list: $*"
}
numbered "${uuids[0]},${uuids[2]}" $three $one
numbered "${uuids[2]},${uuids[0]}" $one $three
numbered "${uuids[2]}" $one
numbered "${uuids[2]:0:12},0" $one $three
# Numbers are the job's own: its second GPU is 1, whatever the node calls it.
numbered 0,1 $three $one
numbered 1,0 $one $three
numbered 1 $one
numbered 0,-1,1 $three
numbered 0,2 $three

# Memory allocated on the first GPU of a list is charged to that one.
for list in 1,0 "${uuids[2]},${uuids[0]}"; do
    job greedy --gpus 0,2 -- env CUDA_VISIBLE_DEVICES="$list" alloc --device 0 --mib 32 --until-fail --hold
    wait_for 20 is_ready greedy
    expect_equal "result on the first of $list" "$(fact "$scratch/greedy.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
    expect_between "bytes on GPU 2" "$(held "${pids[greedy]}" 2)" $((one - 256 * mib)) $one
    expect_equal "bytes on GPU 0" "$(held "${pids[greedy]}" 0)" 0
    end_job greedy
    wait_for 10 none_listed
done

# Neither GPUs of others nor all of them.
for list in 2 "${uuids[1]}"; do
    job foreign --gpus 0,2 -- env CUDA_VISIBLE_DEVICES="$list" alloc --mib 32
    wait "${pids[foreign]}"
    expect_equal "exit status on $list" $? 1
    grep -qE '^error cu[A-Za-z]* (100|101) ' "$scratch/foreign.out" || fail "on $list: $(cat "$scratch/foreign.out")"
done
job all --gpus 0,2 -- env -u CUDA_VISIBLE_DEVICES alloc --device 1 --mib 32
wait "${pids[all]}"
expect_equal "error on GPU 1 of all" "$(fact "$scratch/all.out" error)" \
    "cuDevicePrimaryCtxRetain 101 CUDA_ERROR_INVALID_DEVICE"
wait_for 5 nothing_held

# NVML shows a job its own GPUs only, numbered from 0, as in a container that has these device nodes alone.
cat >"$scratch/nvml.py" <<'TEXT'
import ctypes
nvml = ctypes.CDLL("libnvidia-ml.so.1")
count, index, device = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_void_p()
uuid = ctypes.create_string_buffer(96)
assert nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
for i in range(count.value):
    assert nvml.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(device)) == 0
    assert nvml.nvmlDeviceGetIndex(device, ctypes.byref(index)) == 0 and index.value == i
    assert nvml.nvmlDeviceGetUUID(device, uuid, len(uuid)) == 0
    print(uuid.value.decode())
print("beyond", nvml.nvmlDeviceGetHandleByIndex_v2(count.value, ctypes.byref(device)))
TEXT
uuids() { cgpuctl status --json | jq -r "[.gpus[$1].uuid] | join(\" \")"; }
for gpus in 0 2 0,2 2,1; do
    cgpuctl run --gpus "$gpus" --mem 1GiB -- python3 -B "$scratch/nvml.py" >"$scratch/nvml" || fail "NVML with GPUs $gpus"
    wanted=$(for gpu in $(tr , '\n' <<<"$gpus" | sort); do uuids "$gpu"; done)
    expect_equal "GPUs that NVML shows a job on $gpus" "$(grep -v beyond "$scratch/nvml")" "$wanted"
    expect_equal "the error beyond them" "$(fact "$scratch/nvml" beyond)" 2
done
