# The package's service under a booted systemd: it works inside its limits, every user can read and root can change it, it
# survives invalid configurations, restarts and a hang, and jobs live on meanwhile.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")
manager=(org.cgpu1 /org/cgpu1 org.cgpu1.Manager)

of_unit() { systemctl show cgpud --property "$1" --value; }
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
# journal FIELD…: the messages of cgpud's lines with these fields.
journal() { journalctl --sync && journalctl --no-pager -q -o cat "$@" SYSLOG_IDENTIFIER=cgpud; }
in_journal() { grep -qE -- "$1" <(journal "${@:2}"); }
answers() { busctl --auto-start=no call "${manager[@]}" FindGpu s 0 >/dev/null 2>&1; }
starts_over() { [[ $(of_unit MainPID) != "$1" && $(of_unit MainPID) != 0 ]] && answers; }

# It runs, as its own user, within limits that leave little to attack, and knows the GPU.
expect_equal "the service" "$(systemctl is-active cgpud) $(systemctl is-enabled cgpud)" 'active enabled'
expect_equal "its user" "$(stat -c %U "/proc/$(of_unit MainPID)")" cgpu
expect_equal "capabilities" "$(sed -n 's/^CapEff:\t*//p' "/proc/$(of_unit MainPID)/status")" 0000000000000000
# 0.5 at most; cgpud(8) says what it consists of.
expect exposure cgpud 5 >"$scratch/exposure"
tail -n 1 "$scratch/exposure"

# The process that reads NVML is a service of its own, as another user, and only cgpud gets through to it. A device of the GPUs
# isn't even in cgpud's /dev.
reader=$(pgrep -x cgpu-nvml)
expect_equal "the reader's user" "$(ps -o user:20= -p "$reader")" cgpu-nvml
expect exposure "cgpu-nvml@$(sed -n 's,.*/cgpu-nvml@,,p' "/proc/$reader/cgroup" | head -n 1)" 7 >"$scratch/exposure"
expect_equal "its socket" "$(stat -c '%U %a' /run/cgpu-nvml.socket)" 'cgpu 600'
connect() { perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un($ARGV[0])) or die "$!\n"' "$1"; }
expect_error 'Permission denied' as_nobody bash -c "$(declare -f connect)"'; connect /run/cgpu-nvml.socket'
expect [ -e /dev/simgpu ]
nsenter --mount --target "$(of_unit MainPID)" [ -e /dev/simgpu ] && fail "cgpud sees the GPUs' nodes"
# It is killed: systemd starts another one for the next question.
kill -KILL "$reader"
another_reads() { [[ $(pgrep -x cgpu-nvml) && $(pgrep -x cgpu-nvml) != "$reader" ]]; }
wait_for 20 another_reads
# Without its socket cgpud says what is missing, and goes on.
expect systemctl stop cgpu-nvml.socket
kill -KILL "$(pgrep -x cgpu-nvml)"
wait_for 30 in_journal 'nothing answers at /run/cgpu-nvml.socket: .* Try: systemctl start cgpu-nvml.socket'
expect systemctl start cgpu-nvml.socket
gpus_are_back() { cgpuctl doctor -q >/dev/null && [[ $(cgpuctl status --json | jq '.gpus[0].present') == true ]]; }
wait_for 30 gpus_are_back
expect_equal "status line" "$(of_unit StatusText)" '1 GPUs, 0 instances'
expect_equal "who calls" "$(busctl call "${manager[@]}" FindGpu s 0 | cut -d' ' -f1)" o

# doctor finds nothing wrong with it, and neither it nor a shell's completion starts a cgpud that was stopped.
expect_equal "problems of a good node" "$(cgpuctl doctor --json | jq -c '[.problems, .not_checked]')" '[0,0]'
expect systemctl stop cgpud
expect_error 'cgpud +it is not running: its unit is inactive' cgpuctl doctor
expect_equal "GPUs to complete" "$(cgpuctl __complete show '')" ''
expect_equal "the service after doctor" "$(systemctl is-active cgpud)" inactive
expect systemctl start cgpud

# A user may read, and may not change anything without polkit's permission (polkit.sh), nor take the name.
expect as_nobody cgpuctl status
expect_error "only root may|without an administrator's password" as_nobody cgpuctl set-policy 0 weighted
expect_error "only root may|without an administrator's password" as_nobody busctl call "${manager[@]}" CreateInstance 'ssa{ss}a{sv}' abc abc 1 CGPU_MEM 1GiB 0
expect_error '.' as_nobody busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus RequestName su org.cgpu1 0
expect_error '.' as_nobody systemctl --no-ask-password stop cgpud

# Jobs under it: the limit holds, the gates turn, the shares are those of the weights.
expect cgpuctl set-policy 0 weighted
job one --weight 1 -- burn --forever --kernel-us 1000
job two --weight 2 -- burn --forever --kernel-us 1000
wait_for 20 is_ready one
wait_for 20 is_ready two
job greedy -- alloc --mib 100 --until-fail --hold
wait_for 20 is_ready greedy
expect_equal "result of the allocation too much" "$(fact "$scratch/greedy.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
end_job greedy
expect_shares 6 4 one=33.3 two=66.7
jobs=$(cgpuctl list -q | sort)
expect_equal "jobs" "$(wc -l <<<"$jobs")" 2

# The journal: priorities, and fields that name the subject of a line.
id=$(cgpuctl list --json | jq -r '.[] | select(.name == "one").id')
expect in_journal ': admitted' "CGPU_INSTANCE=$id" PRIORITY=6
expect in_journal 'policy weighted is set' CGPU_GPU=0 PRIORITY=6
in_journal . CGPU_INSTANCE=nobody && fail "lines about nobody"

# The configuration is read again; a bad one changes nothing, and the status and the journal say so.
echo 'default_weight: 3' >/etc/cgpu/cgpud.yaml
expect systemctl reload cgpud
wait_for 10 in_journal 'configuration read again' PRIORITY=6
echo 'default_weight: a lot' >/etc/cgpu/cgpud.yaml
expect_error '.' systemctl reload cgpud
wait_for 10 in_journal 'cgpud.yaml:1: .*Try: '
expect_equal "the service after a reload that was refused" "$(systemctl is-active cgpud)" active
# Clients learn of it, also those who may not read the journal.
told() { as_nobody cgpuctl status 2>&1 >/dev/null | grep -q 'former configuration is in force since .*cgpud.yaml:1: .*Try: '; }
wait_for 10 told
# An administrator who sends the signal by hand finds the result in the status and the journal.
kill -HUP "$(of_unit MainPID)"
says_bad() { [[ $(of_unit StatusText) == 'bad configuration, the one before stays in force: '*cgpud.yaml:1:* ]]; }
wait_for 10 says_bad
wait_for 10 in_journal 'cgpud.yaml:1: .*Try: ' PRIORITY=3
job three -- burn --forever --kernel-us 1000
wait_for 20 is_ready three
told || fail "it is no longer told that the configuration was refused"
weight() { cgpuctl list --json | jq --arg name "$1" '.[] | select(.name == $name).gpus[0].weight'; }
expect_equal "weight by the good configuration" "$(weight three)" 3
end_job three

# It doesn't start with an invalid one, and isn't restarted again and again.
systemctl restart cgpud 2>/dev/null && fail "it started with a bad configuration"
expect_equal "state" "$(of_unit ActiveState) $(of_unit ExecMainStatus)" 'failed 78'
# A client gets that message, with the place, at once: the bus alone would make it wait for 25 s.
began=$SECONDS
expect_error 'it does not start: .*cgpud.yaml:1: ' cgpuctl status
expect_error 'it does not start: .*cgpud.yaml:1: ' cgpuctl list
expect_between "seconds until clients were told" $((SECONDS - began)) 0 8
computes one
rm /etc/cgpu/cgpud.yaml
systemctl reset-failed cgpud

# A call starts it. It has the jobs and the policy again.
expect busctl call "${manager[@]}" FindInstance s one
expect_equal "the service" "$(systemctl is-active cgpud)" active
expect_equal "jobs after the start" "$(cgpuctl list -q | sort)" "$jobs"
expect_equal "policy after the start" "$(cgpuctl status --json | jq -r '.gpus[0].policy_name')" weighted
expect in_journal 'taken up again' "CGPU_INSTANCE=$id"

# Stopped, and called again; restarted; killed.
expect systemctl stop cgpud
computes one
expect_equal "jobs after a stop" "$(cgpuctl list -q | sort)" "$jobs"
expect systemctl restart cgpud
expect_equal "jobs after a restart" "$(cgpuctl list -q | sort)" "$jobs"
# A stop takes the descriptors that systemd keeps for the service, too: cgpud finds the driver of a job's next process again.
# shellcheck disable=SC2016
job later --mem 1GiB -- bash -c 'until [[ -e $1 ]]; do sleep 0.05; done; exec info' - "$scratch/go"
is_listed() { [[ $(cgpuctl list -q | wc -l) == "$1" ]]; }
wait_for 10 is_listed $(($(wc -l <<<"$jobs") + 1))
expect systemctl stop cgpud
expect_equal "descriptors that systemd keeps" "$(of_unit NFileDescriptorStore)" 0
expect systemctl start cgpud
touch "$scratch/go"
wait "${pids[later]}"
expect_equal "exit status of a process that began after a stop" $? 0
expect_equal "the memory that it has" "$(fact "$scratch/later.out" device.0.total_mem)" $((1 << 30))
wait_for 10 is_listed "$(wc -l <<<"$jobs")"
process=$(of_unit MainPID)
systemctl kill -s KILL cgpud
wait_for 20 starts_over "$process"
expect_equal "jobs after a kill" "$(cgpuctl list -q | sort)" "$jobs"

# One that doesn't answer is ended by the watchdog, and started again.
process=$(of_unit MainPID)
kill -STOP "$process"
computes one
wait_for 40 starts_over "$process"
expect in_journal 'Watchdog timeout' _SYSTEMD_UNIT=init.scope + UNIT=cgpud.service
expect_equal "jobs after the watchdog" "$(cgpuctl list -q | sort)" "$jobs"
sleep 0.5
expect_shares 6 4 one=33.3 two=66.7

end_job one
end_job two
wait_for 5 none_listed
wait_for 5 nothing_held
