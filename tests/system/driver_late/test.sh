# The seconds after a change of the GPUs: whoever asks then isn't refused by what the last look showed.
. "$(dirname "$0")/../lib.sh"
. "$CGPU_LAB/cgpud.sh"
present() { [[ $(cgpuctl status --json 2>/dev/null | jq -c '[.gpus[].present]') == "$1" ]]; }
refusals() { lab-log | grep -cE 'instance [^ ]+( \([^)]*\))?: refused|no GPU can take it'; }

# without_driver: a cgpud that looks in vain. It takes its GPUs for gone after two looks.
without_driver() {
    expect stop_cgpud TERM
    expect simgpu unload
    expect start_cgpud
}

echo "A driver that the node has never seen, and one that comes back, while cgpud waits for its next look."
rm -f /var/lib/cgpu/state.json
without_driver
began=$SECONDS
expect_error 'GPU.*Try: ' cgpuctl run --mem 1GiB -- true
((SECONDS - began < 10)) || fail "what is refused for good took $((SECONDS - began)) s"
expect simgpu load
before=$(refusals)
expect cgpuctl run --mem 1GiB -- true
expect_equal "refusals that were told" "$(refusals)" "$before"
expect_equal "GPUs" "$(cgpuctl status --json | jq -c '[.gpus[].present]')" '[true,true]'

echo "Requests that come together are all served."
without_driver
wait_for 30 present '[false,false]'
expect simgpu load
jobs=()
for ((i = 0; i < 8; i++)); do cgpuctl run --mem 1GiB -- true >"$scratch/together.$i" 2>&1 & jobs+=($!); done
for job in "${jobs[@]}"; do wait "$job" || fail "one of them: $(cat "$scratch"/together.*)"; done

echo "So is a change of a GPU by its index."
without_driver
wait_for 30 present '[false,false]'
expect simgpu load
expect cgpuctl set-policy 1 weighted -q

echo "A GPU that was lost, and is back after its reset."
uuid=$(cgpuctl status --json | jq -r '.gpus[] | select(.index == 0).uuid')
for name in 0 "$uuid"; do # and once by its UUID
    expect simgpu lose 0
    wait_for 20 present '[true,false]'
    expect_error 'GPU is lost|not there|is lost' cgpuctl run --mem 1GiB --gpus "$name" -- true
    expect simgpu return 0
    expect cgpuctl run --mem 1GiB --gpus "$name" -- true
done
