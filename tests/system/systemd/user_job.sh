# Jobs of users who aren't root and whom polkit authorizes to run them: the set-uid helper makes the mounts, and the command
# runs as the user in every respect. Two users, so that neither gets access to the other's.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/polkit_lib.sh"
. "$here/../escape/tried.sh"
. "$here/../escape/spellings.sh"
helper=/usr/lib/cgpu/cgpu-enter
limit=$((1 << 30))
chmod 755 "$scratch"
expect useradd --create-home --shell /bin/bash alice
expect useradd --create-home --shell /bin/bash bob
for user in alice bob; do
    expect loginctl enable-linger $user
    wait_for 20 test -S "/run/user/$(id -u $user)/bus"
done

# as USER COMMAND…: in a login session of the user's.
as() {
    su --login "$1" --command "$(printf '%q ' env "PATH=$PATH" "CGPU_LAB=$CGPU_LAB" "${@:2}")"
}
# run_as USER COMMAND…: cgpuctl run with 1 GiB.
run_as() { as "$1" cgpuctl run --mem 1GiB -- "${@:2}"; }
user_systemctl() { as alice systemctl --user "$@"; }

# --- who may
wait_for 20 polkit_answers
expect_error "may not.* \\(polkit's org.cgpu1.run\\)" run_as alice true
run_as alice true 2>/dev/null
expect_equal "exit code" $? 77
allow_users org.cgpu1.run alice bob
wait_for 20 quietly run_as alice true
expect_error 'high priority: .* may not .*org.cgpu1.manage-instance.* Try: ' as alice cgpuctl run --mem 1GiB --prio high -- true
expect_error 'high priority: .* may not .*org.cgpu1.manage-instance.* Try: ' as alice env CGPU_PRIO=high cgpuctl run --mem 1GiB -- true
expect_error '^--user: only root may' as alice cgpuctl run --mem 1GiB --user bob -- true

# --- the command is the user's
run_as alice bash -c 'id -un; id -Gn; pwd; echo $HOME; grep -E "^Cap(Prm|Eff|Amb)|^NoNewPrivs" /proc/self/status; umask' >"$scratch/who" ||
    fail "the job failed"
expect_equal "what it is" "$(tr -s '\t\n' ' ' <"$scratch/who")" \
    "alice alice /home/alice /home/alice CapPrm: 0000000000000000 CapEff: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 0 $(as alice bash -c umask) "
run_as alice bash -c 'exit 7'
expect_equal "exit status" $? 7
# If the user may not enter a folder of PATH, the error is "may not be executed".
as alice env PATH=/usr/bin:/bin cgpuctl run --mem 1GiB -- no-such-command 2>"$scratch/said"
expect_equal "exit status where there is no such command" $? 127
expect has "$scratch/said" '^no-such-command: No such file'
expect_equal "its parent" "$(as alice bash -c 'cgpuctl run --mem 1GiB -- bash -c "echo \$PPID" & wait; echo $$' | sort -u | wc -l)" 1
# Variables that the loader of a set-uid program removes, and text that is no variable.
said=$(as alice env TMPDIR=/home/alice LD_LIBRARY_PATH=/home/alice/lib LD_BIND_NOW=1 MALLOC_ARENA_MAX=1 \
    cgpuctl run --mem 1GiB -- env) || fail "the job failed"
for variable in TMPDIR=/home/alice LD_LIBRARY_PATH=/home/alice/lib LD_BIND_NOW=1 MALLOC_ARENA_MAX=1 CUDA_VISIBLE_DEVICES=GPU-; do
    grep -q "^$variable" <<<"$said" || fail "$variable is not in the job's environment"
done
# A strict umask and closed descriptors.
expect_equal "below a strict umask" "$(as alice bash -c 'umask 077; cgpuctl run --mem 1GiB -- bash -c "umask; alloc --mib 100"' | sed -n '1p;s/^result //p' | xargs)" \
    "0077 0 CUDA_SUCCESS"
expect_equal "with closed descriptors" "$(as alice bash -c 'cgpuctl run --mem 1GiB -- alloc --mib 100 <&- 2>&-' | sed -n 's/^result //p')" \
    "0 CUDA_SUCCESS"

# The user's limits, soft and hard, and what the user's shell has said about signals: nohup and the like must work.
own_limits=(prlimit --nofile=700:900 --core=4096:8192 --stack=4194304:16777216 --memlock=65536:131072)
as alice "${own_limits[@]}" cat /proc/self/limits >"$scratch/limits"
expect grep -qE '^Max open files +700 +900' "$scratch/limits"
as alice "${own_limits[@]}" cgpuctl run --mem 1GiB -- cat /proc/self/limits >"$scratch/limits.job" || fail "the job failed"
expect diff "$scratch/limits" "$scratch/limits.job"
own_signals=(env --ignore-signal=INT,HUP,QUIT,USR1 --block-signal=USR2,TERM)
as alice "${own_signals[@]}" grep -E '^Sig(Blk|Ign)' /proc/self/status >"$scratch/signals"
expect_equal "signals that are ignored or blocked outside a job" "$(sort -u <(cut -f 2 "$scratch/signals") | wc -l)" 2
as alice "${own_signals[@]}" cgpuctl run --mem 1GiB -- grep -E '^Sig(Blk|Ign)' /proc/self/status >"$scratch/signals.job" ||
    fail "the job failed"
expect diff "$scratch/signals" "$scratch/signals.job"
as alice nohup cgpuctl run --mem 1GiB -- bash -c 'kill -HUP $$; echo went on' >"$scratch/nohup" 2>&1 || fail "the job failed under nohup"
expect has "$scratch/nohup" '^went on'
as alice bash -c 'cgpuctl run --mem 1GiB -- bash -c "kill -HUP \$\$; echo went on"' >"$scratch/nohup" 2>&1
expect_equal "exit status by SIGHUP without nohup" $? 129

# --- its terminal
cat >"$scratch/terminal.sh" <<'TEXT'
cgpuctl run --mem 1GiB -- bash -c 'trap "echo got it; exit 42" INT; tty; echo ready; while :; do sleep 0.1; done'
echo "status $?"
TEXT
mkfifo "$scratch/keys"
# bash makes a child in the background ignore SIGINT.
env --default-signal=INT,QUIT script --quiet --flush --return --command \
    "su --login alice --session-command 'PATH=$PATH CGPU_LAB=$CGPU_LAB bash -i $scratch/terminal.sh'" "$scratch/typescript" \
    <"$scratch/keys" >"$scratch/terminal.out" 2>&1 &
terminal=$!
exec {keys}>"$scratch/keys"
wait_for 20 has "$scratch/terminal.out" '^ready'
# After what su of newer systems tells the terminal about the session.
expect has "$scratch/terminal.out" '/dev/pts/[0-9]'
printf '\003' >&$keys
wait_for 10 has "$scratch/terminal.out" '^status 42'
expect has "$scratch/terminal.out" 'got it'
exec {keys}>&-
wait $terminal

# --- its scope
as alice cgpuctl run --mem 1GiB --name held -- bash -c 'echo $$ >"$0"; exec alloc --mib 100 --hold' /home/alice/held.pid \
    >"$scratch/held.out" 2>"$scratch/held.err" &
wait_for 20 has "$scratch/held.out" '^ready'
expect_equal "warnings" "$(cat "$scratch/held.err")" ''
pid=$(cat /home/alice/held.pid)
cgroup=$(sed -n 's/^0:://p' "/proc/$pid/cgroup")
[[ $cgroup =~ ^/user.slice/user-[0-9]+.slice/user@[0-9]+.service/app.slice/cgpu-job-[0-9a-f]{12}\.scope$ ]] ||
    fail "the job's cgroup is $cgroup"
unit=${cgroup##*/}
expect_equal "description" "$(user_systemctl show "$unit" --property Description --value)" "cgpu job held"
expect grep -q "$pid" <(user_systemctl status "$unit")
held=$(cgpuctl list --json | jq -r '.[0].id')
# A user can't release an instance that has a process, nor one of another user.
for user in alice bob; do
    expect_error "may not.* \\(polkit's org.cgpu1.manage-instance\\)" call_manager_as_user ReleaseInstance 'sa{sv}' "$held" 0
done
# Nor enter one that belongs to others, has its mounts already, or doesn't exist.
expect_error 'there is no folder of it for you' as bob $helper "$held" id
expect_error 'does not belong to instance' as alice $helper "$held" id
expect_error 'there is no folder of it for you' as alice $helper nothere id
expect_error 'cgpu-enter: ' as alice $helper ../instances/x id
expect_error 'it takes the id of an instance' as alice $helper
expect user_systemctl stop "$unit"
wait_for 10 none_listed

# --- its limit, and ways to bypass it
run_as alice bash -c 'alloc --mib 100 --until-fail
    for way in "umount /run/cgpu/link" "ls /proc/1/root/" "unshare --mount true" "mount -t tmpfs none /run/cgpu" \
        "unshare --user --map-root-user --mount umount /run/cgpu" "unshare --user --map-root-user --mount umount /run/cgpu/link"; do
        $way 2>/dev/null && echo "open $way"
    done
    true' >"$scratch/limited.out" || fail "the job failed"
expect_equal "an allocation too much" "$(fact "$scratch/limited.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
expect_between "MiB allocated below the limit" "$(fact "$scratch/limited.out" allocated_mib)" 800 1024
expect_equal "ways of root's" "$(fact "$scratch/limited.out" open)" ''
expect_limit_only $limit "a user" as alice cgpuctl run --mem 1GiB -- "$try_environment" driver "${job_folders[@]}"
expect_error 'inside an instance already' run_as alice cgpuctl run --mem 1GiB -- true

# --- copies of the driver that only the user's environment leads to
driver=$(realpath /usr/lib/*/libcuda.so.1)
expect as alice mkdir -p lib conda/cuda-compat
expect as alice cp "$driver" lib/libcuda.so.1
expect as alice cp "$driver" conda/cuda-compat/libcuda.so.580
# covered VARIABLE FILE: the file is covered in a job that is started with the variable.
covered() {
    as alice env "$1" cgpuctl run --mem 1GiB -- env "LD_PRELOAD=$2" info >"$scratch/own.out" || fail "the job failed with $1"
    expect_equal "the card's size by $2" \
        "$(sed -n 's/^device\.0\.[a-z0-9_]*total\(_mem\)\{0,1\} //p' "$scratch/own.out" | sort -u)" $limit
}
covered LD_LIBRARY_PATH=/home/alice/lib /home/alice/lib/libcuda.so.1
covered CONDA_PREFIX=/home/alice/conda /home/alice/conda/cuda-compat/libcuda.so.580
# Those in the folders in which glibc looks first are, too, and those behind what it puts in the place of words.
for below in glibc-hwcaps/x86-64-v2 lib/x86_64-linux-gnu; do
    expect as alice mkdir -p "deep/$below"
    expect as alice cp "$driver" "deep/$below/libcuda.so.1"
done
covered LD_LIBRARY_PATH=/home/alice/deep /home/alice/deep/glibc-hwcaps/x86-64-v2/libcuda.so.1
# shellcheck disable=SC2016
covered 'LD_LIBRARY_PATH=/home/alice/deep/$LIB' /home/alice/deep/lib/x86_64-linux-gnu/libcuda.so.1
# They are covered even where the environment names many other folders, or the job is refused.
decoys=$(decoy_path /home/alice/lib)
covered "LD_LIBRARY_PATH=$decoys" /home/alice/lib/libcuda.so.1
as alice env "LD_LIBRARY_PATH=$decoys" cgpuctl run --mem 1GiB -- info >"$scratch/own.out" || fail "the job failed among decoys"
expect_equal "the card's size among decoys" \
    "$(sed -n 's/^device\.0\.[a-z0-9_]*total\(_mem\)\{0,1\} //p' "$scratch/own.out" | sort -u)" $limit
expect as alice bash -c 'mkdir many && cd many && mkdir $(seq 1100)'
expect_error 'the loader is told of more than 1024 folders.* Try: ' \
    as alice env "LD_LIBRARY_PATH=$(many_folders /home/alice/many)" cgpuctl run --mem 1GiB -- true
# Behind the front is the system's driver: other programs of root that are started in there must not load a user's file.
as alice env LD_LIBRARY_PATH=/home/alice/lib cgpuctl run --mem 1GiB -- bash -c 'alloc --mib 10 --hold & sleep 0.1
    until grep -q libcuda "/proc/$!/maps"; do sleep 0.1; done; sleep 1; cat "/proc/$!/maps"; kill $!' >"$scratch/maps"
inode=$(stat -c %i /home/alice/lib/libcuda.so.1)
awk -v inode="$inode" '$5 == inode { found = 1 } END { exit !found }' "$scratch/maps" && fail "the user's copy is behind the front"
expect awk -v inode="$(stat -c %i "$driver")" '$5 == inode { found = 1 } END { exit !found }' "$scratch/maps"
# A copy that only root can read doesn't count for the user.
install -D -m 600 "$driver" /root/lib/libcuda.so.1
expect as alice env LD_LIBRARY_PATH=/root/lib cgpuctl run --mem 1GiB -- true

# --- where the helper can't work
expect_error 'may not gain rights \(no_new_privs' as alice setpriv --no-new-privs cgpuctl run --mem 1GiB -- true
expect_error 'it has not become root' as alice setpriv --no-new-privs $helper x id
expect chmod u-s $helper
expect_error 'is not set-uid root here. Try: sudo' run_as alice true
run_as alice true 2>/dev/null
expect_equal "exit code" $? 77
expect chmod u+s $helper
expect run_as alice true
wait_for 10 none_listed
