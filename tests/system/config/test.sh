# What is configured, by files and by calls: where each value comes from, what a reload does not put in force, how to go back.
. "$(dirname "$0")/../lib.sh"
mkdir -p /etc/cgpu/cgpud.yaml.d
# of KEY FIELD: of the JSON of cgpuctl config.
of() { cgpuctl config --json 2>/dev/null | jq -r --arg key "$1" --arg field "$2" '.[] | select(.key == $key) | .[$field]'; }
reload() {
    local before
    before=$(lab-log | grep -c 'configuration read again')
    expect kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
    wait_for 5 read_since "$before"
}
read_since() { (($(lab-log | grep -c 'configuration read again') > $1)); }

echo "Each value has a source, and each one is in force."
expect_equal "policy" "$(of policy value) $(of policy source | sed 's/:.*//')" 'proportional /usr/lib/cgpu/cgpud.yaml'
expect_equal "keys that aren't in force" "$(cgpuctl config --json | jq '[.[] | select(.configured)] | length')" 0
expect_equal "shipped keys without a line" "$(cgpuctl config --json | jq -r '.[] | select(.source == "built in") | .key')" ''
expect_equal "a line of the table" "$(cgpuctl config | grep '^gpus.1.max_inst ' | tr -s ' ' | cut -d' ' -f2)" 20

echo "A reload puts in force what it can, and names the rest with the command for it."
printf 'placement: spread\nslice_ms: 9\npolicy: weighted\n' >/etc/cgpu/cgpud.yaml
printf 'gpus:\n  1:\n    max_inst: 10\n' >/etc/cgpu/cgpud.yaml.d/10.yaml
reload
expect_equal "placement" "$(of placement value) $(of placement source)" 'spread /etc/cgpu/cgpud.yaml:1'
expect_equal "slice_ms" "$(of slice_ms value) $(of slice_ms configured) $(of slice_ms remedy)" '5 9 systemctl restart cgpud'
wait_for 5 in_log 'slice_ms: /etc/cgpu/cgpud.yaml:2 says 9, and 5 stays in force. Try: systemctl restart cgpud'
reload
expect_equal "said once" "$(lab-log | grep -c 'slice_ms: .* stays in force')" 1

echo "What nobody has set of a GPU follows the files, though the GPU was there before they were."
expect_equal "GPU 1" "$(of gpus.1.max_inst value) $(of gpus.1.max_inst source)" '10 /etc/cgpu/cgpud.yaml.d/10.yaml:3'
expect_equal "GPU 0" "$(of gpus.0.policy value) $(of gpus.0.policy source)" 'weighted /etc/cgpu/cgpud.yaml:3'
expect_equal "in force" "$(cgpuctl status --json | jq -c '[.gpus[] | .policy_name, .max_inst]')" '["weighted",20,"weighted",10]'
printf 'placement: spread\nslice_ms: 5\npolicy: fixed\n' >/etc/cgpu/cgpud.yaml
reload
expect_equal "no difference" "$(cgpuctl config --check)" 'All that the files say is in force.'

echo "What was set by hand stays, over reloads and restarts, and is told wherever one looks."
expect cgpuctl set-policy 0 soft -q
printf 'placement: spread\nslice_ms: 5\npolicy: weighted\n' >/etc/cgpu/cgpud.yaml
reload
expect lab-restart-cgpud
expect_equal "GPU 0 and 1" "$(of gpus.0.policy value) $(of gpus.1.policy value)" 'soft weighted'
expect_error 'gpus.0.policy: /etc/cgpu/cgpud.yaml:3 says weighted, .* Try: cgpuctl revert 0' cgpuctl config --check
expect_equal "in the table of --check" "$(cgpuctl config --check --no-legend 2>/dev/null | tr -s ' ')" 'gpus.0.policy soft set on this node'
cgpuctl status 2>&1 | grep -q 'gpus.0.policy: /etc/cgpu/cgpud.yaml:3 says weighted' || fail "status says nothing of it"
cgpuctl doctor 2>/dev/null | grep -q 'gpus.0.policy: /etc/cgpu/cgpud.yaml:3 says weighted' || fail "doctor says nothing of it"
wait_for 5 cgpuctl revert 0 -q
expect_equal "GPU 0" "$(of gpus.0.policy value)" weighted
printf 'placement: spread\nslice_ms: 9\npolicy: fixed\n' >/etc/cgpu/cgpud.yaml
reload
expect_equal "it follows again" "$(of gpus.0.policy value)" fixed

echo "A GPU whose instances don't allow a value takes it when they have ended."
asks=(CGPU_MEM=1GiB CGPU_GPUS=1 CGPU_WEIGHT=9)
job heavy -- alloc --mib 100 --hold
wait_for 20 is_ready heavy
printf 'gpus:\n  1:\n    max_inst: 5\n' >/etc/cgpu/cgpud.yaml.d/10.yaml
reload
expect_equal "GPU 1" "$(of gpus.1.max_inst value) $(of gpus.1.max_inst configured)" '10 5'
expect_error 'gpus.1.max_inst: .* Try: end instances on GPU 1' cgpuctl config --check
end_job heavy
wait_for 5 sh -c '! cgpuctl list -q | grep -q .'
reload
expect_equal "GPU 1" "$(of gpus.1.max_inst value)" 5

echo "A GPU that the node hasn't is named."
printf 'gpus:\n  1:\n    max_inst: 10\n  7:\n    policy: fixed\n' >/etc/cgpu/cgpud.yaml.d/10.yaml
reload
wait_for 5 in_log 'gpus.7.policy: /etc/cgpu/cgpud.yaml.d/10.yaml:5 says fixed, and this node has no such GPU'
expect_error 'gpus.7.policy: .* this node has no such GPU' cgpuctl config --check
expect_error '10.yaml:5: gpus.7: this node has no such GPU. Try: .*0, 1' cgpuctl config check /etc/cgpu/cgpud.yaml.d/10.yaml
printf 'gpus:\n  1:\n    max_inst: 10\n' >/etc/cgpu/cgpud.yaml.d/10.yaml
printf 'placement: spread\nslice_ms: 9\npolicy: weighted\n' >/etc/cgpu/cgpud.yaml
reload
expect_equal "a good file" "$(cgpuctl config check /etc/cgpu/cgpud.yaml.d/10.yaml)" 'cgpud would accept this file'

echo "revert takes a GPU to what the files say, all of it or nothing; a restart does it for the rest."
expect cgpuctl set-policy 0 preemptive -q
expect cgpuctl set-policy 1 preemptive -q
expect cgpuctl set-max-inst 1 20 -q
asks=(CGPU_MEM=1GiB CGPU_GPUS=1 CGPU_WEIGHT=12)
job wide -- alloc --mib 100 --hold
wait_for 20 is_ready wide
expect_error 'weights of its instances would add up to 12' cgpuctl revert 1
expect_equal "GPU 1 after the refusal" "$(of gpus.1.policy value) $(of gpus.1.max_inst value)" 'preemptive 20'
end_job wide
expect_equal "a dry run" "$(cgpuctl revert 1 --dry-run)" \
    'GPU 1: the configuration could be put in force; nothing was changed.'
expect_equal "max_inst" "$(of gpus.1.max_inst value)" 20
wait_for 5 cgpuctl revert 1 -q
expect_equal "GPU 1" "$(of gpus.1.policy value) $(of gpus.1.max_inst value) $(of gpus.1.max_inst source)" \
    'weighted 10 /etc/cgpu/cgpud.yaml.d/10.yaml:3'
expect_equal "GPU 0" "$(of gpus.0.policy value) $(of gpus.0.policy source)" 'preemptive state'
expect cgpuctl set-default-memory 2GiB -q
expect_equal "default memory" "$(of default_memory value) $(of default_memory source)" '2048MiB state'
expect cgpuctl revert default-memory -q
expect_equal "default memory" "$(of default_memory value)" 0
expect lab-restart-cgpud
expect_equal "slice_ms" "$(of slice_ms value) $(of slice_ms source)" '9 /etc/cgpu/cgpud.yaml:2'
expect_equal "GPU 1 over a restart" "$(of gpus.1.max_inst value)" 10
expect_error 'GPU "7": there is no such GPU.*Try: ' cgpuctl revert 7
expect sh -c 'cgpuctl set-mode memory -q && cgpuctl revert mode -q'
expect_equal "mode" "$(of mode value) $(of mode source | sed 's/:.*//')" 'memory+compute /usr/lib/cgpu/cgpud.yaml'

echo "Files are judged before they are put in place, by anybody, and without cgpud."
printf 'max_inst: 26\n\npolcy: fixed\n' >"$scratch/new.yaml"
chmod 755 "$scratch" && chmod 644 "$scratch/new.yaml"
expect_error 'new.yaml:1: max_inst.*out of range' setpriv --reuid=65534 --regid=65534 --clear-groups cgpuctl config check "$scratch/new.yaml"
expect_error 'new.yaml:3: polcy.*no such key' cgpuctl config check "$scratch/new.yaml"
printf 'max_inst: 25\n' >"$scratch/new.yaml"
expect_equal "a good file" "$(cgpuctl config check "$scratch/new.yaml")" 'cgpud would accept this file'
expect_error 'does not exist' cgpuctl config check "$scratch/new.yaml" "$scratch/nwe.yaml"
printf 'profiles: {small: {mem: 1GiB}}\n' >/etc/cgpu/cgpud.yaml.d/20.yaml
printf 'profiles: {small: {max: {mem: 2GiB}}}\nlimits: {default: {compute: 4%%}}\n' >"$scratch/new.yaml"
expect cgpuctl config check "$scratch/new.yaml" >"$scratch/check.out" 2>&1
expect has "$scratch/check.out" "^cgpud: warning: .*new.yaml:2: limits.default.compute = \"4%\": it is less than one slice of a GPU with max_inst"
printf 'profiles: {small: {mem: 4GiB}}\n' >"$scratch/20.yaml" && chmod 644 "$scratch/20.yaml"
expect_error '20.yaml:1: profiles.small.mem = "4GiB": the profile asks for more' cgpuctl config check "$scratch/new.yaml" "$scratch/20.yaml"
rm /etc/cgpu/cgpud.yaml.d/20.yaml
expect_error 'the profile has no memory' cgpuctl config check "$scratch/new.yaml"
expect_equal "what is in force" "$(of max_inst value)" 20
