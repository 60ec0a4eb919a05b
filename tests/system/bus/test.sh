# The bus API of the running daemon: its introspection is the XML's, options are checked, only root changes anything,
# a dry run changes nothing, and a change is signalled once. Two GPUs.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/signals.sh"

manager=/org/cgpu1
gpu=$(busctl call org.cgpu1 $manager org.cgpu1.Manager FindGpu s 0 | cut -d'"' -f2)

call_manager() { busctl call org.cgpu1 $manager org.cgpu1.Manager "$@"; }
call_gpu() { busctl call org.cgpu1 "$gpu" org.cgpu1.Gpu "$@"; }
property() { busctl get-property org.cgpu1 "$gpu" org.cgpu1.Gpu "$1"; }
call_manager_property() { busctl get-property org.cgpu1 $manager org.cgpu1.Manager "$1" | cut -d'"' -f2; }
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

# The objects are what the XML says, to the argument and the annotation.
introspection() { busctl --json=short call org.cgpu1 "$1" org.freedesktop.DBus.Introspectable Introspect | jq -r '.data[0]'; }
introspection $manager >"$scratch/manager.xml"
introspection "$gpu" >"$scratch/gpu.xml"
expect python3 "$here/same_interface.py" "$here/../../../dbus/org.cgpu1.Manager.xml" "$scratch/manager.xml"
expect python3 "$here/same_interface.py" "$here/../../../dbus/org.cgpu1.Gpu.xml" "$scratch/gpu.xml"

# The GPUs alone are those of the whole node, without usage.
described() { busctl --json=short call org.cgpu1 $manager org.cgpu1.Manager "$1" | jq -r '.data[0]'; }
expect_equal "the GPUs alone" "$(described DescribeGpus | jq -S .)" "$(described Describe | jq -S '{gpus: [.gpus[] |
    del(.memory_used_bytes, .memory_leased_bytes, .memory_in_driver_bytes, .memory_charged_then_bytes, .xid_errors, .last_xid,
        .strangers_share, .strangers_process)]}')"

# Options: unknown keys and wrong types are refused by name, and nothing is changed.
expect_equal "the policy" "$(property PolicyName)" 's "proportional"'
expect_error 'option "frobnicate": it is not known' call_gpu SetPolicy 'sa{sv}' weighted 1 frobnicate b true
expect_error 'option "dry-run": its type is s, not b' call_gpu SetPolicy 'sa{sv}' weighted 1 dry-run s yes
expect_error 'option "frobnicate": it is not known' \
    call_gpu SetPolicy 'sa{sv}' weighted 2 dry-run b true frobnicate b true
expect_error 'option "frobnicate"' call_gpu SetMaxInst 'ua{sv}' 10 1 frobnicate u 1
expect_error 'option "frobnicate"' call_manager CreateInstance 'ssa{ss}a{sv}' abc abc 1 CGPU_MEM 1GiB 1 frobnicate u 1
expect_error 'option "frobnicate"' call_manager ReleaseInstance 'sa{sv}' abc 1 frobnicate u 1
expect_error 'option "frobnicate"' call_manager Attach 'sua{sv}' abc 1 1 frobnicate u 1
expect_error 'option "force": it is not known' call_gpu SetPolicy 'sa{sv}' weighted 1 force b true
expect_error 'option "persist": it is not known' call_gpu SetPolicy 'sa{sv}' weighted 1 persist b true
expect_error 'option "frobnicate"' call_manager Forget 'sa{sv}' web 1 frobnicate u 1
expect_error 'option "owner": its type is s, not u' call_manager Forget 'sa{sv}' web 1 owner s root
expect_error 'expecting' call_gpu SetPolicy su weighted 1
expect_equal "the policy" "$(property PolicyName)" 's "proportional"'

# Errors have the names of the list in the XML.
start_signals
expect_error 'there is no such GPU' call_manager FindGpu s 99
expect_error 'there is no such instance' call_manager FindInstance s none
expect_error 'max_inst 26' call_gpu SetMaxInst 'ua{sv}' 26 0
expect_error '1000GiB' call_manager CreateInstance 'ssa{ss}a{sv}' abc abc 1 CGPU_MEM 1000GiB 0
expect_error 'only root may' as_nobody cgpuctl set-policy 0 weighted
stop_signals
expect_equal "the errors' names" "$(errors | tr '\n' ' ')" 'NotFound NotFound Invalid NoMemory NotAuthorized '

# A user may read everything and change nothing; the refusal is a sentence.
expect as_nobody cgpuctl status
expect as_nobody cgpuctl list --json
expect_error 'only root may.*Try: ' as_nobody cgpuctl set-policy 0 weighted
as_nobody cgpuctl set-policy 0 weighted 2>/dev/null
expect_equal "the exit code" $? 77
expect_error 'only root may' as_nobody busctl call org.cgpu1 $manager org.cgpu1.Manager \
    CreateInstance 'ssa{ss}a{sv}' abc abc 1 CGPU_MEM 1GiB 0
for change in 'SetMaxInst ua{sv} 10 0' 'SetPolicy sa{sv} weighted 0'; do
    expect_error 'only root may' as_nobody busctl call org.cgpu1 "$gpu" org.cgpu1.Gpu $change
done
for change in 'ReleaseInstance sa{sv} abc 0' 'Attach sua{sv} abc 1 0' 'Forget sa{sv} abc 0'; do
    expect_error 'only root may' as_nobody busctl call org.cgpu1 $manager org.cgpu1.Manager $change
done
expect_error '.' as_nobody busctl call org.freedesktop.DBus / org.freedesktop.DBus RequestName su org.cgpu1 7

# The bus itself keeps calls with descriptors from cgpud, anybody's to any interface; the same calls without them arrive.
chmod 755 "$scratch"
cp "$here/call_with_descriptor.py" "$scratch/call"
for user in 0 65534; do
    for call in 'org.cgpu1.Manager Describe' 'org.freedesktop.DBus.Peer Ping' 'org.freedesktop.DBus.Introspectable Introspect'; do
        called() { setpriv --reuid=$user --regid=$user --clear-groups "$scratch/call" "$1" $call; }
        expect_equal "user $user, $call" "$(called 0)" answered
        expect_equal "user $user, $call with a descriptor" "$(called 1)" org.freedesktop.DBus.Error.AccessDenied
    done
done

# A dry run checks and changes nothing; it signals nothing.
start_signals
expect cgpuctl set-policy 0 weighted --dry-run
expect cgpuctl set-max-inst 0 10 --dry-run
expect call_manager CreateInstance 'ssa{ss}a{sv}' abc abc 1 CGPU_MEM 1GiB 1 dry-run b true
expect_error 'max_inst 26' cgpuctl set-max-inst 0 26 --dry-run
stop_signals
expect_equal "the signals of a dry run" "$(signals .)" ''
expect_equal "the policy" "$(property PolicyName)" 's "proportional"'
expect_equal "the instances" "$(cgpuctl list --json)" '[]'

# A change is signalled once, with the changed values only; repeating it signals nothing.
start_signals
expect cgpuctl set-policy 0 weighted
expect cgpuctl set-policy 0 2
expect cgpuctl set-max-inst 0 20
stop_signals
expect_equal "the signals of a change" "$(signals '[.path, .payload.data[0], (.payload.data[1] | keys)]')" \
    "[\"$gpu\",\"org.cgpu1.Gpu\",[\"Policy\",\"PolicyName\"]]"

# A call is answered before its signals are sent, and they are sent before the next call is answered. The calls above that were
# denied are summed up in an event of some time later.
start_signals
expect call_gpu SetPolicy 'sa{sv}' fixed 0
stop_signals
expect_equal "the order of an answer and its signals" "$(jq -r --arg gpu "$gpu" '
    if .member == "SetPolicy" then "called" elif .path == $gpu and .type == "signal" then "changed"
    elif .path == "/org/cgpu1" and .member == "Event" and .payload.data[2] != "call-denied" then "event" elif .type == "method_return" and .sender != "org.freedesktop.DBus" then "answered"
    else empty end' "$scratch/monitor" | sed -n '/called/,$p' | uniq | tr '\n' ' ')" 'called answered event changed '
expect cgpuctl set-policy 0 weighted

# An instance and its object are created and removed together. Its caller ends before Attach, so it ends by itself.
start_signals
expect call_manager CreateInstance 'ssa{ss}a{sv}' abc web 2 CGPU_MEM 1GiB CGPU_GPUS 0 0
no_instances() { [[ $(cgpuctl list -q) == '' ]]; }
wait_for 10 no_instances
stop_signals
expect_equal "the signals of an instance" "$(signals '[.member, .payload.data[0]]')" "\
[\"InterfacesAdded\",\"/org/cgpu1/instance/abc\"]
[\"PropertiesChanged\",\"org.cgpu1.Gpu\"]
[\"PropertiesChanged\",\"org.cgpu1.Gpu\"]
[\"InterfacesRemoved\",\"/org/cgpu1/instance/abc\"]"
expect_equal "what changed of the GPU" \
    "$(signals 'select(.member == "PropertiesChanged") | .payload.data[1] | keys' | sort -u)" \
    '["FreeWeight","Instances","MemoryAllocated"]'

# The object of a running instance, told apart by its own id.
sleep_job=$(mktemp -u "$scratch/XXXXXX")
mkfifo "$sleep_job"
start_signals
cgpuctl run --mem 1GiB --name job -- cat "$sleep_job" &
job=$!
is_running() { [[ $(cgpuctl show job --json 2>/dev/null | jq -r .state) == running ]]; }
wait_for 10 is_running
expect_equal "its pid" "$(cgpuctl show job --json | jq .pid)" "$job"
stop_signals
# What it costs cgpud must not grow with the other instances: nothing describes them.
expect_equal "the calls of a start" "$(jq -rs '(map(select(.member == "CreateInstance")) | first.sender) as $its
    | map(select(.sender == $its and .interface == "org.cgpu1.Manager") | .member) | join(" ")' "$scratch/monitor")" \
    'CreateInstance Attach DescribeGpus'
instance=$(call_manager FindInstance s job | cut -d'"' -f2)
introspection "$instance" >"$scratch/instance.xml"
expect python3 "$here/same_interface.py" "$here/../../../dbus/org.cgpu1.Instance.xml" "$scratch/instance.xml"
start_signals
expect cgpuctl set-weight job 4
expect cgpuctl set-weight job 4
expect_error 'weight 21' cgpuctl set-weight job 21
expect_error 'option "force": it is not known' busctl call org.cgpu1 "$instance" org.cgpu1.Instance \
    SetWeight 'sua{sv}' '' 4 1 force b true
stop_signals
expect_equal "the signals of a weight" \
    "$(signals '[.payload.data[0], (.payload.data[1] | keys)]')" "\
[\"org.cgpu1.Instance\",[\"Quotas\"]]
[\"org.cgpu1.Gpu\",[\"FreeWeight\"]]"
: >"$sleep_job"
expect wait "$job"
wait_for 10 no_instances

# An upgrade is a job: its object, its end and the version in force are told, once each.
own=$(call_manager_property ModuleVersion)
chmod 755 "$scratch"
expect make_bundle "$scratch" "/usr/lib/cgpu/module/$own/libcgpu-engine.so.$own" 8.0.0 8.0.0
expect cgpuctl module add -q "$scratch/8.0.0"
for call in UpgradeHot UpgradeCold; do
    expect_error 'option "frobnicate"' call_manager $call 'sa{sv}' 8.0.0 1 frobnicate u 1
    expect_error 'option "timeout": its type is s, not u' call_manager $call 'sa{sv}' 8.0.0 1 timeout s soon
    expect_error 'only root may' as_nobody busctl call org.cgpu1 $manager org.cgpu1.Manager $call 'sa{sv}' 8.0.0 0
done
expect_error 'option "frobnicate"' call_manager SetMode 'sa{sv}' none 1 frobnicate u 1
expect_error 'only root may' as_nobody busctl call org.cgpu1 $manager org.cgpu1.Manager SetMode 'sa{sv}' none 0
expect_error 'option "drain": it is not known' call_manager UpgradeHot 'sa{sv}' 8.0.0 1 drain b true
expect_equal "a dry run's job" "$(call_manager UpgradeCold 'sa{sv}' 8.0.0 1 dry-run b true)" 'o "/"'
start_signals
expect_equal "the job" "$(call_manager UpgradeCold 'sa{sv}' 8.0.0 2 drain b true timeout u 5)" 'o "/org/cgpu1/job/1"'
stop_signals
expect_equal "the signals of an upgrade" "$(signals '[.member, (.payload.data | map(strings, numbers))]')" "\
[\"InterfacesAdded\",[\"/org/cgpu1/job/1\"]]
[\"JobRemoved\",[1,\"/org/cgpu1/job/1\",\"done\"]]
[\"PropertiesChanged\",[\"org.cgpu1.Manager\"]]"
expect_equal "the version" "$(call_manager_property ModuleVersion)" 8.0.0
introspection /org/cgpu1/job/1 >"$scratch/job.xml"
expect python3 "$here/same_interface.py" "$here/../../../dbus/org.cgpu1.Job.xml" "$scratch/job.xml"
expect_error 'it is not under way' busctl call org.cgpu1 /org/cgpu1/job/1 org.cgpu1.Job Cancel 'a{sv}' 0
expect_error 'only root may' as_nobody busctl call org.cgpu1 /org/cgpu1/job/1 org.cgpu1.Job Cancel 'a{sv}' 0
expect lab-restart-cgpud
expect_equal "the version after a restart" "$(call_manager_property ModuleVersion)" 8.0.0
expect_equal "the last job after a restart" \
    "$(busctl get-property org.cgpu1 /org/cgpu1/job/1 org.cgpu1.Job Result)" 's "done"'
expect cgpuctl upgrade --cold "$own" -q
expect_error 'Unknown object' busctl get-property org.cgpu1 /org/cgpu1/job/1 org.cgpu1.Job Result

# So is a switch of the mode, which the GPUs show.
start_signals
expect_equal "the job" "$(call_manager SetMode 'sa{sv}' none 1 drain b true)" 'o "/org/cgpu1/job/3"'
stop_signals
expect_equal "the signals of a switch" \
    "$(signals '[.member, (.payload.data | map(strings, numbers)), (.payload.data[1] | objects | keys)]')" "\
[\"InterfacesRemoved\",[\"/org/cgpu1/job/2\"]]
[\"InterfacesAdded\",[\"/org/cgpu1/job/3\"],[\"org.cgpu1.Job\",\"org.freedesktop.DBus.Introspectable\",\"org.freedesktop.DBus.Peer\",\"org.freedesktop.DBus.Properties\"]]
[\"JobRemoved\",[3,\"/org/cgpu1/job/3\",\"done\"]]
[\"PropertiesChanged\",[\"org.cgpu1.Manager\"],[\"Mode\",\"ModeSource\"]]
[\"PropertiesChanged\",[\"org.cgpu1.Gpu\"],[\"Mode\"]]
[\"PropertiesChanged\",[\"org.cgpu1.Gpu\"],[\"Mode\"]]"
expect_equal "the mode" "$(call_manager_property Mode) $(call_manager_property ModeSource)" 'none switched'

# The default memory is told when it changes, and outlives cgpud.
start_signals
expect call_manager SetDefaultMemory 'ta{sv}' 4096 0
expect call_manager SetDefaultMemory 'ta{sv}' 4096 0
expect call_manager SetDefaultMemory 'ta{sv}' 8192 1 dry-run b true
stop_signals
expect_equal "the signals of a default memory" "$(signals '[.payload.data[0], (.payload.data[1] | keys)]')" \
    '["org.cgpu1.Manager",["DefaultMemory","DefaultMemorySource"]]'
expect lab-restart-cgpud
expect_equal "the default memory" "$(call_manager_property DefaultMemory) $(call_manager_property DefaultMemorySource)" 't 4096 set'
expect_error 'only root may' as_nobody busctl call org.cgpu1 $manager org.cgpu1.Manager SetDefaultMemory 'ta{sv}' 0 0
expect call_manager RevertDefaultMemory 'a{sv}' 0
expect_equal "the default memory" "$(call_manager_property DefaultMemory) $(call_manager_property DefaultMemorySource)" \
    't 0 configuration'

# A configuration that is refused at a reload is told, once each time that the answer changes, and no longer after a good one.
reload() { kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"; }
refused() { # NUMBER: of faults that the bus shows
    busctl --json=short get-property org.cgpu1 $manager org.cgpu1.Manager ConfigurationProblems >"$scratch/refused"
    [[ $(jq '.data | length' "$scratch/refused") == "$1" ]]
}
expect refused 0
mkdir -p /etc/cgpu
printf 'max_inst: 4\nslice_ms: never\nno_weight: [1]\n' >/etc/cgpu/cgpud.yaml
before=$(date +%s)
start_signals
reload
wait_for 10 refused 2
expect_equal "the faults" "$(jq -c '[.data[] | [.file.data, .line.data]] | sort' "$scratch/refused")" \
    '[["/etc/cgpu/cgpud.yaml",2],["/etc/cgpu/cgpud.yaml",3]]'
since=$(jq '.data[0].since.data' "$scratch/refused")
expect_between "since when" "$since" "$before" "$(date +%s)"
cgpuctl status >/dev/null 2>"$scratch/said"
expect has "$scratch/said" \
    'former configuration is in force since .*cgpud.yaml:2: slice_ms = .* Try: .*, and then systemctl reload cgpud\.$'
expect_equal "in JSON" "$(cgpuctl status --json | jq -c '[.configuration_problems[] | [.line, .since_seconds]] | sort')" \
    "[[2,$since],[3,$since]]"
# Another fault: the time is that of the first refusal.
echo 'policy: fast' >/etc/cgpu/cgpud.yaml
reload
wait_for 10 refused 1
expect_equal "since when" "$(jq '.data[0].since.data' "$scratch/refused")" "$since"
rm /etc/cgpu/cgpud.yaml
reload
wait_for 10 refused 0
stop_signals
expect_equal "the signals of three reloads" "$(signals '[.payload.data[0], (.payload.data[1] | keys)]')" "\
[\"org.cgpu1.Manager\",[\"ConfigurationProblems\"]]
[\"org.cgpu1.Manager\",[\"ConfigurationProblems\"]]
[\"org.cgpu1.Manager\",[\"ConfigurationProblems\"]]"
cgpuctl status 2>&1 >/dev/null | grep configuration && fail "a good configuration is warned about"
expect_equal "in JSON" "$(cgpuctl status --json | jq -c .configuration_problems)" '[]'

# None of the above is a fault of the daemon.
expect_equal "org.cgpu1.Error.Internal" "$(lab-log | grep -ci 'exception')" 0
