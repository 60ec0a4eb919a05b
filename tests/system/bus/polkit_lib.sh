# Sourced by the tests of permissions: a user, rules of polkit, and the checks for every polkit.
rules=/etc/polkit-1/rules.d
old_rules=/etc/polkit-1/localauthority/50-local.d
user=nobody

as_user() { setpriv --reuid=$user --regid=nogroup --clear-groups "$@"; }
call_gpu_as_user() { # FLAG VALUE
    as_user busctl "$@" call org.cgpu1 "$gpu" org.cgpu1.Gpu SetPolicy 'sa{sv}' fixed 0
}
create_as_user() { # OPTIONS…
    as_user busctl --allow-interactive-authorization=false call org.cgpu1 /org/cgpu1 org.cgpu1.Manager CreateInstance \
        'ssa{ss}a{sv}' abc abc 1 CGPU_MEM 1GiB "$@"
}
call_manager_as_user() { # METHOD SIGNATURE VALUE…
    as_user busctl --allow-interactive-authorization=false call org.cgpu1 /org/cgpu1 org.cgpu1.Manager "$@"
}
quietly() { "$@" >/dev/null 2>&1; }
polkit_answers() {
    busctl call org.freedesktop.PolicyKit1 /org/freedesktop/PolicyKit1/Authority org.freedesktop.DBus.Peer Ping 2>/dev/null
}
allow() { # ACTION
    allow_users "$1" $user
}
# allow_users ACTION USER…: in JavaScript, and in the words of polkit 0.105 (Debian 11, Ubuntu before 24.04), which knows no such rules.
allow_users() {
    local action=$1 users=$2 user
    mkdir -p $rules
    for user in "${@:2}"; do
        echo "polkit.addRule(function(action, subject) {
            if (action.id == '$action' && subject.user == '$user') return polkit.Result.YES;
        });"
    done >$rules/10-cgpu-test.rules
    [[ -d $old_rules ]] || return 0
    for user in "${@:3}"; do users+=";unix-user:$user"; done
    printf '[Test]\nIdentity=unix-user:%s\nAction=%s\nResultAny=yes\nResultInactive=yes\nResultActive=yes\n' "$users" "$action" \
        >$old_rules/10-cgpu-test.pkla
}
allow_nobody() {
    rm -f $rules/10-cgpu-test.rules $old_rules/10-cgpu-test.pkla
}

# find_polkit: for a node without systemd, which starts its own.
find_polkit() {
    local program
    for program in /usr/lib/polkit-1/polkitd /usr/libexec/polkitd; do
        [[ -x $program ]] && polkitd=$program
    done
    [[ -v polkitd ]] || skip "polkitd is not installed"
}
# cgpud_as_cgpu [OPTION of setpriv…]: starts it again as that user.
cgpud_as_cgpu() {
    . "$CGPU_LAB/cgpud.sh"
    systemd-sysusers /usr/lib/sysusers.d/cgpu.conf 2>/dev/null && quietly busctl call org.freedesktop.DBus / \
        org.freedesktop.DBus ReloadConfig && stop_cgpud TERM && chown -R cgpu: /var/lib/cgpu /run/cgpu || return
    setpriv --reuid=cgpu --regid=cgpu --init-groups "$@" /usr/sbin/cgpud >>"$CGPU_LAB/cgpud.log" 2>&1 </dev/null &
    echo $! >"$CGPU_LAB/cgpud.pid"
    wait_for 10 owns_name
}
start_polkit() {
    "$polkitd" --no-debug >"$scratch/polkit.out" 2>&1 &
    polkit=$!
    wait_for 10 polkit_answers
}

what_polkit_decides() {
    gpu=$(busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindGpu s 0 | cut -d'"' -f2)
    # polkit knows the actions, and by default asks for an administrator's password.
    for action in run manage-instance manage-policy trace upgrade-module; do
        expect grep -q 'implicit any: *auth_admin$' <(pkaction --verbose --action-id "org.cgpu1.$action")
    done
    expect grep -q 'implicit any: *yes$' <(pkaction --verbose --action-id org.cgpu1.manage-own)
    expect quietly as_user cgpuctl status
    expect_error "changing the settings of a GPU: user id [0-9]+ may not without an administrator's password .polkit's org.cgpu1.manage-policy., and the caller can't be asked for it. Try: .*rules.d/50-cgpu.rules" \
        as_user cgpuctl set-policy 0 weighted
    as_user cgpuctl set-policy 0 weighted 2>/dev/null
    expect_equal "exit code" $? 77
    # The caller's message says whether a password may be asked for.
    expect_error "the caller can't be asked" call_gpu_as_user --allow-interactive-authorization=false
    expect_error 'no polkit agent runs that asks' call_gpu_as_user --allow-interactive-authorization=true
    # Root is not asked about.
    expect cgpuctl set-policy 0 weighted -q

    # A rule authorizes a user for one action, and no other.
    allow org.cgpu1.manage-policy
    wait_for 10 quietly as_user cgpuctl set-policy 0 preemptive
    expect_equal "policy" "$(cgpuctl status --json | jq -r '.gpus[0].policy_name')" preemptive
    expect as_user cgpuctl set-max-inst 0 10 -q
    expect cgpuctl set-max-inst 0 20 -q
    expect_error 'max_inst 26' as_user cgpuctl set-max-inst 0 26
    expect_error "without an administrator's password .polkit's org.cgpu1.upgrade-module." as_user cgpuctl set-mode none
    expect_error "without an administrator's password .polkit's org.cgpu1.trace." as_user cgpuctl trace 0 -o -
    expect_error "without an administrator's password .polkit's org.cgpu1.run." create_as_user 0
    # A user who may run jobs may create instances and attach own processes to them, but can't change those of others.
    allow org.cgpu1.run
    wait_for 10 quietly create_as_user 1 dry-run b true
    # High priority needs at the start what set-priority needs, however it is asked for.
    local variables options high=(CreateInstance 'ssa{ss}a{sv}' abc abc 2 CGPU_MEM 1GiB)
    for variables in 'CGPU_PRIO high' 'CGPU_PRIO 1' 'ALIYUN_COM_GPU_HIGH_PRIO 1'; do
        # shellcheck disable=SC2086
        for options in 0 '1 dry-run b true'; do
            expect_error "high priority: .* without an administrator's password .polkit's org.cgpu1.manage-instance.* Try: .*, or ask for normal priority" \
                call_manager_as_user "${high[@]}" $variables $options
        done
    done
    expect quietly call_manager_as_user "${high[@]}" CGPU_PRIO normal 1 dry-run b true
    expect_equal "instances" "$(cgpuctl list -q)" ""
    expect cgpuctl run --mem 1GiB --prio high --dry-run -q -- true
    asks=(CGPU_MEM=2GiB)
    job roots -- alloc --mib 100 --hold
    wait_for 20 is_ready roots
    roots=$(cgpuctl list --json | jq -r '.[0].id')
    expect_error "without an administrator's password .polkit's org.cgpu1.manage-instance." as_user cgpuctl set-memory roots 3GiB
    expect_error "without an administrator's password .polkit's org.cgpu1.manage-instance." call_manager_as_user ReleaseInstance 'sa{sv}' "$roots" 0
    expect_error "without an administrator's password .polkit's org.cgpu1.manage-instance." call_manager_as_user Attach 'sua{sv}' "$roots" $$ 0
    # Broader actions imply it.
    allow org.cgpu1.manage-instance
    wait_for 10 quietly as_user cgpuctl set-memory roots 3GiB
    end_job roots
    wait_for 10 none_listed
    expect quietly create_as_user 1 dry-run b true
    expect quietly call_manager_as_user "${high[@]}" CGPU_PRIO high 1 dry-run b true
    expect_error "without an administrator's password .polkit's org.cgpu1.manage-policy." as_user cgpuctl set-policy 0 fixed
    # A user's instance ends when its creator's process ends before Attach, as root's does.
    expect quietly create_as_user 0
    wait_for 10 none_listed
    # Settings kept for root's instances of a name don't apply to a user's instance of the same name.
    job abcd -- alloc --mib 100 --hold
    wait_for 20 is_ready abcd
    expect as_user cgpuctl set-memory abcd 3GiB --persist -q
    end_job abcd
    wait_for 10 none_listed
    local create=(busctl --json=short call org.cgpu1 /org/cgpu1 org.cgpu1.Manager CreateInstance
        'ssa{ss}a{sv}' xyz abcd 1 CGPU_MEM 1GiB 1 dry-run b true)
    expect_equal "MiB of root's" "$("${create[@]}" | jq '.data[1][0][2] / 1048576')" 3072
    expect_equal "MiB of a user's" "$(as_user "${create[@]}" | jq '.data[1][0][2] / 1048576')" 1024
    expect as_user cgpuctl forget abcd -q
    allow org.cgpu1.upgrade-module
    wait_for 10 quietly as_user cgpuctl set-mode none
    expect as_user cgpuctl set-mode memory+compute -q
    allow_nobody
}

# let_user_run: from now on the user may run jobs of the user's own, and no more.
let_user_run() {
    find_polkit
    expect cgpud_as_cgpu
    start_polkit
    allow org.cgpu1.run
    expect chmod u+s /usr/lib/cgpu/cgpu-enter
    wait_for 10 quietly as_user cgpuctl run --mem 1GiB -- true
}
