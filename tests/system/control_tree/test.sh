# The control tree: the command lines of cGPU's documentation, with one prefix replaced; what a script can rely on; readers and
# vandals in parallel; restarts of cgpud and of the tree's own process.
. "$(dirname "$0")/../lib.sh"
km=/run/cgpu/km
[[ -e /dev/fuse ]] || skip "this machine has no /dev/fuse"

mounted() { [[ -e $km/version ]]; }
start_tree() {
    cgpu-fs >>"$scratch/fs.out" 2>>"$scratch/fs.err" &
    tree=$!
    wait_for 10 mounted
}
# expect_errno TEXT VALUE FILE: writing the value to the file fails, with this text of the errno.
expect_errno() {
    # shellcheck disable=SC2016
    said=$(LC_ALL=C bash -c 'echo "$1" >"$2"' _ "$2" "$3" 2>&1) && fail "writing $2 to $3 succeeded"
    [[ $said == *"$1"* ]] || fail "writing $2 to $3: $said, expected: $1"
}
expect_file() { # FILE TEXT
    expect_equal "$1" "$(cat "$1")" "$2"
}
start_tree

echo "The documentation's own lines."
asks=("${four_of_15[@]}" ALIYUN_COM_GPU_VISIBLE_DEVICES=0)
job web -- alloc --mib 100 --hold
wait_for 20 is_ready web
dockerid=$(cgpuctl show web --json | jq -r .id)
dockerid=${dockerid:0:12}
sed "s|/proc/cgpu_km|$km|g" >"$scratch/documented" <<'LINES'
echo 2 > /proc/cgpu_km/0/policy
cat /proc/cgpu_km/0/free_weight
cat /proc/cgpu_km/0/$dockerid/weight
echo 4 > /proc/cgpu_km/0/$dockerid/weight
cat /proc/cgpu_km/0/$dockerid/weight
cat /proc/cgpu_km/0/free_weight
LINES
expect_equal "what the documented lines print" "$(dockerid=$dockerid bash -e "$scratch/documented" | xargs)" "19 1 4 16"
expect_equal "the policy" "$(cgpuctl show 0 --json | jq -r .policy_name)" weighted
expect bash -c "echo 6 >$km/0/policy"
expect_equal "our own policy" "$(cat $km/0/policy) $(cgpuctl show 0 --json | jq -r .policy_name)" "6 proportional"
expect bash -c "echo 2 >$km/0/policy"
expect_equal "the names of a GPU" "$(ls $km/0 | xargs)" "$dockerid free_weight major max_inst policy prio_ratio"
expect_equal "the names of an instance" "$(ls "$km/0/$dockerid" | xargs)" "highprio id meminfo memsize weight"
expect_file "$km/0/$dockerid/memsize" $limit_of_four
expect_file "$km/0/$dockerid/id" "$(cgpuctl show web --json | jq -r .id)"
used=$(cgpuctl show web --json | jq '.gpus[0].memory_used_bytes')
expect_equal "meminfo" "$(xargs <"$km/0/$dockerid/meminfo")" \
    "Free: $((limit_of_four - used)) PID: ${pids[web]} Mem: $(simgpu ledger --json | jq "[.processes[] | select(.pid == ${pids[web]}) | .gpus[].bytes] | add")"
[[ ! -e $km/1/$dockerid ]] || fail "it is shown on a GPU that isn't its own"

echo "Settings, and what is refused."
expect bash -c "echo 1 >$km/0/$dockerid/highprio"
expect_file "$km/0/$dockerid/highprio" 1
expect bash -c "echo 1073741824 >$km/0/$dockerid/memsize"
expect_equal "the limit" "$(cgpuctl show web --json | jq '.gpus[0].memory_limit_bytes')" 1073741824
expect bash -c "echo 70 >$km/0/prio_ratio && echo 24 >$km/0/max_inst"
expect_equal "prio_ratio and max_inst" "$(cat $km/0/prio_ratio $km/0/max_inst | xargs)" "70 24"
expect_errno 'Invalid argument' 7 "$km/0/policy"
expect_errno 'Invalid argument' 26 "$km/0/max_inst"
expect_errno 'Invalid argument' nonsense "$km/0/$dockerid/weight"
expect_errno 'Device or resource busy' 3 "$km/0/max_inst"
expect_errno 'Cannot allocate memory' $((17000 << 20)) "$km/0/$dockerid/memsize"
expect_errno 'Device or resource busy' 1048576 "$km/0/$dockerid/memsize"
expect_errno 'Permission denied' 1 "$km/version"
expect_errno 'No such file' 1 "$km/7/policy"
asks=()
job two --weight 18 --mem 1GiB --gpus 0 -- alloc --mib 1 --hold
wait_for 20 is_ready two
expect_errno 'No space left' 8 "$km/0/$dockerid/weight"
has "$scratch/fs.err" "^0/$dockerid/weight: .* Try: " || fail "why it was refused is not in the log: $(cat "$scratch/fs.err")"
said=$(setpriv --reuid 1000 --clear-groups bash -c "cat $km/0/policy && echo 1 >$km/0/policy" 2>&1) && fail "a user may write"
[[ $said == 2*'Permission denied'* ]] || fail "a user, reading and writing: $said"
end_job two

echo "The default memory, and instances made by hand."
expect_errno 'Invalid argument' 1aabbccddeeff "$km/inst_ctl"
expect bash -c "echo 2147483648 >$km/default_memsize"
expect_file "$km/default_memsize" 2147483648
expect lab-restart-cgpud
expect_file "$km/default_memsize" 2147483648
expect bash -c "echo 1aabbccddeeff >$km/inst_ctl"
expect_equal "memory and weight" "$(cat $km/1/aabbccddeeff/{memsize,weight} | xargs)" "2147483648 1"
expect_errno 'File exists' 1aabbccddeeff "$km/inst_ctl"
expect bash -c "echo -aabbccddeeff >$km/inst_ctl"
[[ ! -e $km/1/aabbccddeeff ]] || fail "the instance is still there"
expect_errno 'No such file' -aabbccddeeff "$km/inst_ctl"
said=$(cat $km/inst_ctl 2>&1) && fail "inst_ctl can be read"
[[ $said == *'Bad file descriptor'* ]] || fail "reading inst_ctl: $said"
asks=(ALIYUN_COM_GPU_MEM_CONTAINER=)
job of_default -- alloc --mib 1 --hold
wait_for 20 is_ready of_default
expect_equal "the default memory of a job" "$(cgpuctl show of_default --json | jq '.gpus[0].memory_limit_bytes')" 2147483648
end_job of_default

echo "The module's versions."
expect_file "$km/version" "$(cgpuctl status --json | jq -r .module_version)"
expect_file "$km/upgrade" none
expect_errno 'No such file' 'hot 9.9.9' "$km/upgrade"
expect_errno 'Invalid argument' 'warm 9.9.9' "$km/upgrade"

echo "Readers, vandals and changes at once."
before=$(find $km | sort)
readers=()
for i in 1 2 3 4; do
    for ((n = 0; n < 40; n++)); do find $km -type f ! -name inst_ctl -exec cat {} + >/dev/null || exit 1; done &
    readers+=($!)
done
for ((n = 0; n < 20; n++)); do
    rm -rf ${km:?}/* 2>/dev/null
    mv $km/0 $km/2 2>/dev/null
    touch $km/0/new 2>/dev/null
    expect bash -c "echo $((n % 2 + 1)) >$km/0/policy"
    expect_file "$km/0/policy" $((n % 2 + 1))
done
for reader in "${readers[@]}"; do
    wait "$reader" || fail "a reader met an error"
done
expect_equal "the tree" "$(find $km | sort)" "$before"

echo "Names that were looked up, of instances that have ended, aren't kept."
kept() { awk '$1 == "fuse_inode" { print $2 }' /proc/slabinfo; } # files of such trees that the kernel keeps
come_and_go() { # COUNT: times eight, each with its files read
    local i some=()
    for i in 1 2 3 4 5 6 7 8; do
        /usr/bin/python3 "$(dirname "$0")/../hostile/tenant/calls.py" read "$1" $km/0 >/dev/null &
        some+=($!)
    done
    for i in "${some[@]}"; do wait "$i" || return; done
}
was=$(kept)
expect come_and_go 50
echo "$was files were kept, $(kept) after 400 instances with 6 files each"
[[ ! $was ]] || expect_between "files that the kernel keeps of 400 instances that were looked up" $(($(kept) - was)) -100000 1200

echo "Without cgpud, and without the tree's process."
expect lab-restart-cgpud --kill
expect_file "$km/0/$dockerid/memsize" 1073741824
kill -KILL $tree
wait $tree 2>/dev/null
[[ $(cat $km/version 2>&1) == *'not connected'* ]] || fail "the mount of the killed process is not what is left of it"
start_tree
expect_file "$km/0/$dockerid/memsize" 1073741824
expect_error 'something is mounted there already.* Try: ' cgpu-fs
end_job web
kill -TERM $tree
wait $tree || fail "it ended with $?"
[[ ! -e $km ]] || fail "the folder is still there"
expect_error 'the folder can.t be made .* Try: ' cgpu-fs "$scratch/fs.out/km"
