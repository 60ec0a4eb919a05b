#!/bin/sh
# usage: programs_test.sh FOLDER_OF_SIMULATOR FOLDER_OF_PROGRAMS
# Runs the tool and each test program once against a device of its own.
set -eu
sim=$1
programs=$2
folder=$(mktemp -d)
holder=
trap '[ -z "$holder" ] || kill "$holder" 2>/dev/null || true; rm -rf "$folder"' EXIT
export SIMGPU_DEVICE=$folder/device LD_LIBRARY_PATH=$sim

fail() {
    echo "FAILED: $1" >&2
    exit 1
}
expect() { # FILE LINE
    grep -qxF -- "$2" "$1" || { cat "$1" >&2; fail "no line '$2'"; }
}

"$sim/simgpu" create --gpus 'V100:16130MiB*2,T4'
"$sim/simgpu" gpus >"$folder/gpus"
[ "$(wc -l <"$folder/gpus")" = 3 ] || fail "three GPUs were made"
if "$sim/simgpu" create --gpus V9000 2>"$folder/error"; then fail "an unknown model was taken"; fi
grep -q "no card model 'V9000'" "$folder/error" || fail "the error doesn't name the model"

"$programs/info" >"$folder/info"
expect "$folder/info" "device.2.total_mem $((15109 * 1048576))"
expect "$folder/info" "device.0.mem_info_free $(((16130 - 121) * 1048576))"
expect "$folder/info" "device.0.nvml_v1_used $((121 * 1048576))"

for how in plain pitch array async managed; do
    "$programs/alloc" --mib 100 --until-fail --how $how >"$folder/alloc"
    expect "$folder/alloc" "result 2 CUDA_ERROR_OUT_OF_MEMORY"
    # An array of 1600 rows has 1664 on the card.
    expect "$folder/alloc" "allocated_mib $([ $how = array ] && echo 15300 || echo 16000)"
done
if "$programs/alloc" --mib 17000 >"$folder/alloc"; then fail "17000 MiB on a card of 16130"; fi

mkfifo "$folder/ready"
"$programs/alloc" --mib 1000 --hold --device 1 >"$folder/ready" &
holder=$!
grep -q ready "$folder/ready"
"$sim/simgpu" ledger --json >"$folder/ledger"
python3 - "$folder/ledger" "$holder" <<'PYTHON'
import json, sys
ledger = json.load(open(sys.argv[1]))
process = [p for p in ledger["processes"] if p["pid"] == int(sys.argv[2])][0]
assert process["comm"] == "alloc" and process["alive"], process
use = process["gpus"][0]
assert use["gpu"] == 1 and use["bytes"] == 1121 << 20 and use["context_bytes"] == 121 << 20, use
assert ledger["gpus"][1]["used_bytes"] == 1121 << 20, ledger["gpus"]
assert ledger["holders"] == 1, ledger["holders"]
PYTHON
kill "$holder"
wait "$holder" || fail "alloc didn't end cleanly"
holder=
"$sim/simgpu" ledger >"$folder/ledger"
expect "$folder/ledger" "holders 0"

"$programs/vector_add" --n 100000 >"$folder/add"
expect "$folder/add" "wrong 0"
"$programs/rendezvous" --gpus 3 --rounds 20 >"$folder/meet"
expect "$folder/meet" "rounds 20"
"$programs/burn" --kernel-us 100,300 --seconds 0.2 --threads 2 --streams 2 >"$folder/burn"
grep -Eq '^launches [1-9]' "$folder/burn" || fail "burn launched nothing"
"$programs/burn" --kernel-us 100,300 --seconds 0.2 --streams 2 --graph 10 >"$folder/burn"
launches=$(sed -n 's/^launches //p' "$folder/burn")
[ "$launches" -gt 0 ] || fail "burn launched no graph"
expect "$folder/burn" "kernels $((launches * 10))"
"$programs/burn" --kernel-us 100 --seconds 0.1 --coop >"$folder/burn"
grep -Eq '^launches [1-9]' "$folder/burn" || fail "burn launched nothing cooperatively"
"$programs/pingpong" --rounds 20 >"$folder/pingpong"
expect "$folder/pingpong" "rounds 20"
expect "$folder/pingpong" "out_of_turn 0"
if "$programs/pingpong" --rounds 20 --die-after 5 >"$folder/pingpong"; then fail "the death went unnoticed"; fi
expect "$folder/pingpong" "rounds 5"
expect "$folder/pingpong" "out_of_turn 1"
expect "$folder/pingpong" "other_died 1"
for program in info alloc burn rendezvous vector_add pingpong; do
    "$programs/$program" --help >/dev/null || fail "$program --help"
done
echo ok
