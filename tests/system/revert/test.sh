# How what was set ends: taken back, by the reboot, or when the configured mode is wanted again; what is waited for; and what is
# told of calls that are denied or refused.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/signals.sh"
quietly() { "$@" >/dev/null 2>&1; }

# of KEY FIELD: of the JSON of cgpuctl config.
of() { cgpuctl config --json 2>/dev/null | jq -r --arg key "$1" --arg field "$2" '.[] | select(.key == $key) | .[$field]'; }
# quota NAME: memory limit in MiB, weight and priority of the instance.
quota() { cgpuctl list --json | jq -r --arg name "$1" '.[] | select(.name == $name).gpus[0] | "\(.memory_limit_bytes / 1048576) \(.weight) \(.high_priority)"'; }
path_of() { busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindInstance s "$1" | cut -d '"' -f 2; }
admitted() { busctl --json=short get-property org.cgpu1 "$(path_of "$1")" org.cgpu1.Instance Admitted | jq -c '[.data[] | map_values(.data)]'; }
mode_now() { cgpuctl status --json | jq -r '[.mode, .mode_source, .gpus[].mode] | join(" ")'; }
inside() { nsenter --mount --target "${pids[web]}" "$@"; }
is_told() { [[ $(told "$1") ]]; }
reload() {
    local before
    before=$(lab-log | grep -c 'configuration read again')
    expect kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
    wait_for 5 read_since "$before"
}
read_since() { (($(lab-log | grep -c 'configuration read again') > $1)); }
# reboot: the kernel has another boot id, nothing in /run/cgpu is left, and cgpud is started again.
boots=0
reboot() {
    boots=$((boots + 1))
    printf '00000000-0000-0000-0000-%012d\n' "$boots" >"/run/boot_id.$boots"
    chmod 644 "/run/boot_id.$boots"
    expect mount --bind "/run/boot_id.$boots" /proc/sys/kernel/random/boot_id
    . "$CGPU_LAB/cgpud.sh"
    expect stop_cgpud KILL
    find /run/cgpu -mindepth 1 -delete 2>/dev/null
    expect start_cgpud
}

start_signals

echo "An instance goes back to what it was admitted with, by cgpud's memory after its death, too."
job web --gpus 0 --mem 4GiB --weight 2 -- alloc --mib 1000 --hold
wait_for 20 is_ready web
expect_equal "admitted with" "$(quota web)" '4096 2 false'
expect_equal "nothing else was set" "$(admitted web)" '[]'
expect cgpuctl set-memory web 6GiB -q
expect cgpuctl set-weight web 5 --persist -q
expect cgpuctl set-priority web high -q
expect_equal "set" "$(quota web)" '6144 5 true'
expect_equal "Admitted" "$(admitted web)" '[{"high-priority":false,"memory-limit":4294967296,"weight":2}]'
expect quietly inside alloc --mib 4500
expect lab-restart-cgpud --kill
expect_equal "a dry run" "$(cgpuctl revert web --dry-run)" \
    'Instance web: what it was admitted with could be put in force; nothing was changed.'
expect_equal "after the dry run" "$(quota web)" '6144 5 true'
expect_equal "the answer" "$(cgpuctl revert WEB)" \
    'Instance WEB: what it was admitted with is in force. What is kept for its next starts stays: cgpuctl forget web.'
expect_equal "reverted" "$(quota web)" '4096 2 false'
expect_equal "Admitted" "$(admitted web)" '[]'
quietly inside alloc --mib 4500 && fail "it got more than it was admitted with"
expect cgpuctl revert web -q
expect cgpuctl forget web -q

echo "All or nothing: what others have taken meanwhile is refused."
expect cgpuctl set-memory web 2GiB -q
expect cgpuctl set-priority web high -q
job big --gpus 0 --mem 13GiB -- alloc --mib 10 --hold
wait_for 20 is_ready big
expect_error 'memory limit 4GiB for instance .*: it has 2GiB and .* is free.* Try: ' cgpuctl revert web
expect_equal "nothing was changed" "$(quota web)" '2048 2 true'
end_job big
wait_for 10 cgpuctl revert web -q
expect_error 'instance "nobody": there is no such instance' cgpuctl revert nobody
expect_error 'GPU "7": there is no such GPU' cgpuctl revert 7

echo "Several are reverted as one, GPUs and instances."
expect cgpuctl set-memory web 2GiB -q
expect cgpuctl set-policy 0 fixed -q
expect_error 'instance "nobody": there is no such instance' cgpuctl revert 0 web nobody
expect_error 'mode: it is reverted alone' cgpuctl revert 0 mode
expect_equal "nothing was changed" "$(quota web) $(of gpus.0.policy value)" '2048 2 false fixed'
generation=$(cgpuctl describe | jq .generation)
expect_equal "the answer" "$(cgpuctl revert web 0 --if-generation "$generation")" "$(printf '%s\n' \
    'Instance web: what it was admitted with is in force.' 'GPU 0: the configuration is in force.')"
expect_equal "reverted" "$(quota web) $(of gpus.0.policy value)" '4096 2 false proportional'
expect_error 'the node has changed since then' cgpuctl revert web 0 --if-generation "$generation"

echo "--wait returns when the instance holds no more than its limit, or says that it does."
said=$(cgpuctl set-memory web 512MiB --force --wait --timeout 1 2>&1) && fail "it waited for nothing: $said"
expect_equal "what it said" "$(grep -cE 'instance web: it holds [0-9.]+MiB, and its limit is 512MiB, after 1 s; the change stays' <<<"$said")" 1
cgpuctl set-memory web 512MiB --force --wait --timeout 30 -q &
waiting=$!
sleep 0.5
kill -0 $waiting || fail "it didn't wait"
end_job web
wait $waiting || fail "it waited in vain"
unset "pids[web]"

echo "Until the reboot: cgpud's death doesn't end it, the reboot does; what was set for good stays."
expect cgpuctl set-policy 0 weighted --runtime -q
expect cgpuctl set-max-inst 0 10 -q
expect cgpuctl set-default-memory 2GiB --runtime -q
expect cgpuctl set-mode none --runtime -q
until_reboot() {
    expect_equal "policy" "$(of gpus.0.policy value) $(of gpus.0.policy source)" 'weighted runtime'
    expect_equal "max_inst" "$(of gpus.0.max_inst value) $(of gpus.0.max_inst source)" '10 state'
    expect_equal "default memory" "$(of default_memory value) $(of default_memory source)" '2048MiB runtime'
    expect_equal "mode" "$(of mode value) $(of mode source)" 'none runtime'
    expect_equal "mode of a GPU" "$(of gpus.1.mode value) $(of gpus.1.mode source)" 'none runtime'
}
until_reboot
expect grep -q '^gpus.0.policy .* set until the reboot$' <(cgpuctl config 2>/dev/null)
expect lab-restart-cgpud --kill
until_reboot
wait_for 10 is_told '.type == "mode-changed" and .d.after == "none"'
reboot
expect_equal "policy" "$(of gpus.0.policy value)" proportional
expect_equal "max_inst" "$(of gpus.0.max_inst value) $(of gpus.0.max_inst source)" '10 state'
expect_equal "default memory" "$(of default_memory value)" 0
expect_equal "mode" "$(mode_now)" 'memory+compute configuration memory+compute memory+compute'
expect_equal "left in the state" "$(jq -c '[.until_reboot, .upgrade.mode_until_reboot]' /var/lib/cgpu/state.json)" '[null,null]'
expect in_log 'mode: the one that was set until the reboot has ended, and the configuration.s holds again'
reboot
expect_equal "max_inst after another one" "$(of gpus.0.max_inst value)" 10
expect cgpuctl revert 0 -q

echo "The configured mode, and for each GPU its own; it waits over cgpud's death for who is in the way."
mkdir -p /etc/cgpu
printf 'mode: memory\ngpus:\n  1:\n    mode: none\n' >/etc/cgpu/cgpud.yaml
reload
expect_equal "a reload puts no mode of a known GPU in force" "$(mode_now)" 'memory configuration memory+compute memory+compute'
expect_equal "the remedy" "$(of gpus.1.mode remedy)" 'cgpuctl set-mode configured'
job isolated --gpus 0 --mem 1GiB -- alloc --mib 10 --hold
wait_for 20 is_ready isolated
expect_error 'the configured mode of the node: instances are in the way' cgpuctl set-mode configured
expect cgpuctl set-mode configured --drain --no-wait -q
expect_error 'is being changed' cgpuctl run --mem 1GiB -- true
expect lab-restart-cgpud --kill
expect_equal "meanwhile" "$(mode_now)" 'memory configuration memory+compute memory+compute'
end_job isolated
is_configured() { [[ $(mode_now) == 'memory configuration memory none' ]]; }
wait_for 10 is_configured
wait_for 5 is_told '.type == "mode-switch-begun"'
wait_for 5 is_told '.type == "mode-changed" and .d.after == "memory"'
cgpuctl set-mode configured 2>/dev/null
expect_equal "exit code of another one" $? 4
expect_equal "revert" "$(cgpuctl revert mode)" 'Mode: the configuration is in force.'
expect cgpuctl set-mode memory+compute -q
expect_equal "switched" "$(mode_now)" 'memory+compute switched memory+compute memory+compute'
expect cgpuctl revert mode --dry-run -q
expect_equal "on the bus" "$(busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager SetMode 'sa{sv}' configured 1 dry-run b true)" 'o "/"'
expect cgpuctl revert mode -q
expect_equal "reverted" "$(mode_now)" 'memory configuration memory none'
rm /etc/cgpu/cgpud.yaml
reload
expect cgpuctl set-mode configured --wait -q
expect_equal "as shipped" "$(mode_now)" 'memory+compute configuration memory+compute memory+compute'
expect_equal "events of jobs" "$(told '.type | startswith("job")' | wc -l)" 0

echo "A caller that may not, and one whose change is refused, are told of; one that goes on and on, rarely."
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
for _ in {1..60}; do as_nobody cgpuctl set-policy 0 fixed </dev/null 2>/dev/null && fail "nobody may"; done
wait_for 5 is_told '.type == "call-denied" and .d.method == "SetPolicy" and .d."caller-uid" == 65534 and .d.gpu == 0 and .d.reason == "not_permitted"'
denied_in_all() { [[ $(told '.type == "call-denied"' | jq -s 'map(.d.count) | add') == 60 ]]; }
wait_for 20 denied_in_all
expect_between "events of 60 denied calls" "$(told '.type == "call-denied"' | wc -l)" 2 6
expect_error 'max_inst 26: it is out of range' cgpuctl set-max-inst 0 26
gpu=$(busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindGpu s 0 | cut -d'"' -f2)
expect_error 'out of range' busctl call org.cgpu1 "$gpu" org.cgpu1.Gpu SetMaxInst 'ua{sv}' 26 0
wait_for 5 is_told '.type == "change-refused" and .d.method == "SetMaxInst" and .d.reason == "invalid" and .d."caller-uid" == 0'
expect_error 'out of range' cgpuctl set-prio-ratio 0 10 --dry-run
expect in_log 'SetPolicy: denied to user id 65534, process [0-9]+: changing the settings of a GPU: .* Try: '
mark_and_look
expect_equal "a dry run is not told of" "$(told '.d.method == "SetPrioRatio"')" ''

echo "No verb asks where there is no terminal."
expect_equal "what is left of the input" "$(printf 'y\n' | { cgpuctl set-policy 0 weighted -q; cgpuctl revert 0 -q; cat; })" y
