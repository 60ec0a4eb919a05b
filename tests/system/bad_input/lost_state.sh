# A state that is damaged, older than what runs, or another node's, while jobs run: no job is lost, none gets other limits, the node
# is never empty, and what happened is said.
. "$(dirname "$0")/../lib.sh"
. "$CGPU_LAB/cgpud.sh"
state=/var/lib/cgpu

# What the node is for its jobs; the figures of the moment, and the node's own counters, are left out.
jobs() {
    cgpuctl describe | jq -c '[.instances[] | {id, name, created, owner, generation, mode,
        gpus: [.gpus[] | {memory_limit_bytes, weight, high_priority}]}] | sort_by(.id)'
}
limit_of() { # NAME: what an allocation of the job beyond its limit finds, by the ledger
    cgpuctl list --json | jq -r --arg name "$1" '.[] | select(.name == $name) | .gpus[0].memory_limit_bytes'
}

doctor_names() { # CHECK TEXT
    cgpuctl doctor --json >"$scratch/doctor.out" 2>"$scratch/doctor.err"
    jq -e --arg check "$1" --arg text "$2" '.findings | any(.check == $check and .level == "warning" and (.what | test($text)))' \
        "$scratch/doctor.out" >/dev/null || fail "the doctor doesn't say: $*"
}

job first --mem 2GiB --weight 3 -- burn --forever
wait_for 20 is_ready first
cp $state/state.json "$scratch/of_first"
job second --mem 3GiB -- burn --forever
wait_for 20 is_ready second
before=$(jobs)
expect_equal "jobs" "$(cgpuctl list --json | jq -c '[.[].name] | sort')" '["first","second"]'

echo "A wrong bit: the former state, and the job that it doesn't have as it was admitted."
expect stop_cgpud TERM
cp $state/state.json "$scratch/newest"
python3 - $state/state.json <<'P'
import sys
path = sys.argv[1]
text = bytearray(open(path, "rb").read())
at = text.index(b'"memory_limit_bytes":') + len(b'"memory_limit_bytes":')
text[at] ^= 1
open(path, "wb").write(text)
P
expect_equal "the former state has" "$(jq -c '[.instances[].name] | sort' $state/.state.json.spare)" '["first","second"]'
expect cgpud --check
expect start_cgpud
expect in_log "state file $state/state.json: its checksum is not that of its content: .* The state before its last change"
expect_equal "jobs" "$(jobs)" "$before"
expect test -e $state/state.json.damaged
doctor_names "state folder" "$state/state.json.damaged is there"
computes first
computes second

echo "An older state, put back by somebody: the newer job is taken up as it was."
expect stop_cgpud TERM
rm $state/.state.json.spare $state/state.json.damaged
cp "$scratch/of_first" $state/state.json
expect start_cgpud
expect in_log "second.*: the state does not have it so: it has what its record says"
expect_equal "jobs" "$(jobs)" "$before"
computes first
computes second

echo "No state at all: settings are the configuration's, jobs are as they were."
expect cgpuctl set-policy 0 fixed
expect stop_cgpud KILL
rm -f $state/state.json $state/.state.json.spare
expect start_cgpud
expect_equal "jobs" "$(jobs)" "$before"
expect_equal "policy" "$(cgpuctl status --json | jq -r '.gpus[0].policy_name')" proportional
computes first
computes second

echo "A state in whose place there is no room for a job: its folder stays, and it is taken up when the right state is there again."
expect stop_cgpud TERM
cp $state/state.json "$scratch/right"
jq 'del(.checksum) | .instances |= map(select(.name == "first")) | .instances[0].quotas[0].memory_limit_bytes = 16106127360' \
    "$scratch/right" >$state/state.json
rm -f $state/.state.json.spare
expect start_cgpud
expect in_log "second.* runs, the state does not have it, and it can't be taken up again: "
wait_for 10 in_log 'link: process [0-9]+ has .* mounted, and the state has no such instance'
expect_equal "jobs" "$(cgpuctl list --json | jq -c '[.[].name]')" '["first"]'
doctor_names orphans "process ${pids[second]} was started in instance .*, which cgpud does not know any more"
expect stop_cgpud TERM
cp "$scratch/right" $state/state.json
expect start_cgpud
expect_equal "jobs" "$(jobs)" "$before"
computes first
computes second

echo "Whoever ends leaves nothing."
end_job first
end_job second
no_jobs() { [[ -z $(cgpuctl list -q) ]]; }
wait_for 20 no_jobs
expect_equal "left in /run/cgpu" "$(ls /run/cgpu/instances /run/cgpu/admitted | grep -v : | xargs)" ''
