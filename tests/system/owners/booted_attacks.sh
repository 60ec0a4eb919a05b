# Sourced by booted.sh: attempts to take another's name, right or limit. Alice has `train` (2 of her 6 GiB), bob has `web`.
may_run alice amy bob backup-job
may_change_no_more() { ! quietly as alice cgpuctl set-weight web 1; }
hold alice train cgpuctl run --mem 2GiB --compute 10% --gpus 0 --name train -- alloc --mib 100 --hold
hold bob web cgpuctl run --mem 2GiB --gpus 2 --name web -- alloc --mib 100 --hold
wait_for 20 may_change_no_more
web=$(instance_of web | jq -r .id) train=$(instance_of train | jq -r .id)
full=$(sentence alice memory)
much=(CGPU_MEM=4097MiB CGPU_GPUS=1) # a MiB more than is left to alice
little=(CGPU_MEM=1GiB CGPU_GPUS=1)
# stays_alices WORD…: with these words before it, the command asks in alice's name: too much is refused by her limit, and a
# job that fits is hers.
stays_alices() {
    expect_error "$full" as alice env "${much[@]}" "$@" cgpuctl run -- true
    as alice env "${little[@]}" "$@" cgpuctl run --name tried -- sleep 100 >"$scratch/tried.out" 2>&1 &
    tried=$!
    wait_for 20 lives tried
    expect_equal "whose a job with $* is" "$(owner tried)" alice
    expect cgpuctl stop tried >/dev/null
    wait $tried
}

echo "By the environment, and by annotations of her own engine."
for claim in CGPU_OWNER=bob CGPU_OWNER=root SUDO_UID=0 PKEXEC_UID=0 LOGNAME=bob; do
    expect_error "$full" by_environment alice '' "${much[@]}" $claim
done
expect_error "$full" by_podman alice '' "${much[@]}" CGPU_OWNER=bob
expect_error "$full" by_annotation alice '' "${much[@]}" org.cgpu.owner=bob
expect_error "$full" by_bus alice '' "${much[@]}" org.cgpu.owner=bob
stays_alices env CGPU_OWNER=bob SUDO_UID=0 SUDO_GID=0 SUDO_USER=root
expect has "$scratch/tried.out" "^warning: CGPU_OWNER=bob has no effect: it runs as user id $(id -u alice),"

echo "By user namespaces: root of one, with ids of her range, and without her groups."
stays_alices unshare --user --map-root-user
expect has "$scratch/tried.out" '^warning: cgpu-job-.*scope: .*[^.]\. The job stays in the cgroup of its session\.$'
stays_alices unshare --user --map-root-user --mount
stays_alices podman unshare setpriv --clear-groups
expect_error "$full" as alice unshare --user --map-root-user busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager CreateInstance \
    'ssa{ss}a{sv}' asked asked 2 CGPU_MEM 4097MiB CGPU_GPUS 1 2 dry-run b true user u 0
expect_error "can't run as it" as alice unshare --user --map-root-user cgpuctl run --mem 1GiB --user bob -- true
# An id of her range is nobody's: the bus doesn't let it in, so it has no limits of its own.
sed -i 's/subject.user/"alice"/' $rules/50-cgpu.rules
for id in 0 1000; do
    in_range=(as alice podman unshare setpriv --reuid $id --regid $id --clear-groups busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager
        CreateInstance 'ssa{ss}a{sv}' asked asked 2 CGPU_MEM 4097MiB CGPU_GPUS 1 1 dry-run b true)
    expect_error "$full|endpoint is not connected|$((alice_range + id - 1)) may" "${in_range[@]}"
done
may_run alice amy bob backup-job

echo "By sudo."
expect_error 'password is required' as alice sudo -n -u bob cgpuctl run --mem 1GiB -- true
expect_error 'Authentication failure' as alice su bob -c true
expect_error 'authentication|Access denied' as alice systemd-run --no-ask-password --uid bob --pipe --wait true
printf 'alice ALL=(root) NOPASSWD: /usr/bin/cgpuctl run *\nalice ALL=(backup-job) NOPASSWD: /usr/bin/cgpuctl run *\n' >/etc/sudoers.d/alice
by_sudo() { as alice env SUDO_UID=0 SUDO_GID=0 SUDO_USER=root sudo -n "$@"; }
expect_error "$full" by_sudo /usr/bin/cgpuctl run --mem 4097MiB --gpus 1 -- true
expect_error "$full" by_sudo /usr/bin/cgpuctl run --mem 4097MiB --gpus 1 --name backup-job -- true
expect_error 'not allowed to set .*SUDO_UID' as alice sudo -n SUDO_UID=0 /usr/bin/cgpuctl run --mem 4097MiB -- true
expect_error 'password is required' as alice sudo -n env SUDO_UID=0 cgpuctl run --mem 4097MiB -- true
expect_equal "who a job under sudo runs as" "$(by_sudo /usr/bin/cgpuctl run --mem 1GiB -- id -un 2>"$scratch/sudo.err")" alice
# Whom sudo lets her be is another, with limits of its own.
expect_error 'backup-job may have 1GiB in all' as alice sudo -n -u backup-job /usr/bin/cgpuctl run --mem 1025MiB -- true

echo "By groups: of one she isn't in, by its set-gid program, and by one of bob's that is set-uid."
expect_error 'Invalid password' as alice sg rich -c 'cgpuctl limits'
expect_error "$full" as alice sg night -c 'cgpuctl run --mem 4097MiB --gpus 1 -- true'
expect_error "$full" as alice bash -c 'echo cgpuctl run --mem 4097MiB --gpus 1 -- true | newgrp night'
for copy in rich-cgpuctl bobs-cgpuctl; do expect cp /usr/bin/cgpuctl /usr/local/bin/$copy; done
expect chgrp rich /usr/local/bin/rich-cgpuctl
expect chmod 2755 /usr/local/bin/rich-cgpuctl
expect_error "$full" as alice rich-cgpuctl run --mem 4097MiB --gpus 1 -- true
expect chown bob /usr/local/bin/bobs-cgpuctl
expect chmod 4755 /usr/local/bin/bobs-cgpuctl
expect_error 'there is no folder of it for you' as alice bobs-cgpuctl run --mem 1GiB -- true

echo "By names, of another's job, of others and of what cgpu calls so itself."
for name in web bob root containers '(short ones)' "$web"; do
    expect_error "$full" as alice cgpuctl run --mem 4097MiB --gpus 1 --name "$name" -- true
done
expect_error "it is there already, of user id $(id -u bob)" as alice busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager CreateInstance \
    'ssa{ss}a{sv}' "$web" web 1 CGPU_MEM 1GiB 0
hold alice mine cgpuctl run --mem 1GiB --gpus 1 --name web -- alloc --mib 100 --hold
# By the name each has the own one, and root is told of both.
paused() { cgpuctl list --json | jq -c '[.[] | select(.name == "web" and .gpus[0].paused).owner]'; }
for user in alice bob; do
    expect as $user cgpuctl pause web -q
    expect_equal "whose web $user has paused" "$(paused)" "[$(id -u $user)]"
    expect as $user cgpuctl resume web -q
    expect_equal "whose web is paused" "$(paused)" '[]'
done
expect_error 'several instances are meant by it. Try: name one of' cgpuctl pause web
kill "${pids[mine]}"
one_web() { (($(cgpuctl list --json | jq '[.[] | select(.name == "web")] | length') == 1)); }
expect cgpuctl stop "$(cgpuctl list --json | jq -r '.[] | select(.name == "web" and .id != $web).id' --arg web "$web")" >/dev/null
wait_for 10 one_web

echo "Another's job: its limits, a pause, its end, its processes and her own in it."
right="org.cgpu1.manage-instance"
for verb in 'set-memory web 1GiB' 'set-memory web 9GiB' 'set-weight web 5' 'set-priority web high' 'pause web' 'resume web' 'revert web' \
    'forget web' 'rename web mine'; do
    # shellcheck disable=SC2086
    expect_error "$right" as alice cgpuctl $verb
    # shellcheck disable=SC2086
    expect_error "$right" as alice unshare --user --map-root-user cgpuctl $verb
done
expect_error 'may not signal its process' as alice cgpuctl stop web
expect_error 'may not signal its process' as alice unshare --user --map-root-user cgpuctl stop web
manager() { as "$1" busctl --allow-interactive-authorization=false call org.cgpu1 /org/cgpu1 org.cgpu1.Manager "${@:2}"; }
expect_error "$right" manager alice ReleaseInstance 'sa{sv}' "$web" 0
expect_error "$right" manager alice Attach 'sua{sv}' "$web" "${pids[train]}" 0
expect_error "$right|not one of the caller's" manager alice Attach 'sua{sv}' "$train" "${pids[web]}" 0
expect_error 'there is no folder of it for you' as alice /usr/lib/cgpu/cgpu-enter "$web" id
# What is her own she may lower, and not raise.
expect as alice cgpuctl set-memory train 1GiB -q
expect_error "$right" as alice cgpuctl set-memory train 2GiB
expect_equal "the memory limit of web" "$(instance_of web | jq '.gpus[0].memory_limit_bytes')" $((2 << 30))
expect_equal "whose they are" "$(owner web) $(owner train)" "bob alice"
let_go web
let_go train

echo "What alice's processes hold in all, by the ledger."
fill=(alloc --mib 9000 --chunk-mib 64 --until-fail --hold)
hold alice train cgpuctl run --mem 2GiB --gpus 0 --name train -- "${fill[@]}"
alice_holds_container second 4GiB 1 "${fill[@]}"
all=0
while read -r pid bytes; do
    uid=$(stat -c %u "/proc/$pid")
    ((uid == $(id -u alice) || uid >= alice_range)) || fail "process $pid of user $uid has GPU memory"
    all=$((all + bytes))
done < <(ledger '.processes[] | select(.alive) | "\(.pid) \([.gpus[].bytes] | add)"')
expect_between "bytes of alice's" $all $((5700 << 20)) $((6 << 30))
let_go second
let_go train
wait_for 10 nothing_held
