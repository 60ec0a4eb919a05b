# Sourced by the tests in which a crowd of users works in a node without systemd, after ../lib.sh and ../bus/polkit_lib.sh.
fake_clock=$(dirname "$(readlink -f "$(command -v alloc)")")/fake_clock.so
export PYTHONDONTWRITEBYTECODE=1

# crowd_node [OPTION of setpriv…]: everybody may run jobs, and the simulator's trace runs. cgpud runs as its own user;
# `bash $scratch/restart` kills it and starts it again, with the argument `hour` with a wall clock that is an hour ahead.
crowd_node() {
    find_polkit
    expect test -e "$fake_clock"
    chmod 755 "$scratch"
    mkdir -p $rules
    echo 'polkit.addRule(function(action, subject) {
    if (action.id == "org.cgpu1.run") return polkit.Result.YES;
});' >$rules/10-cgpu-test.rules
    cat >"$scratch/restart" <<TEXT
set -u
. "$here/../bus/polkit_lib.sh"
wait_for() { wait_until "\$@"; }
kill -KILL "\$(cat "$CGPU_LAB/cgpud.pid")"
[[ \${1-} != hour ]] || export LD_PRELOAD=$fake_clock FAKE_CLOCK=hour
cgpud_as_cgpu $*
TEXT
    expect bash "$scratch/restart"
    # polkit 122 dies now and then when it is asked often; systemd would start it again, too.
    while true; do "$polkitd" --no-debug; sleep 0.1; done >"$scratch/polkit.out" 2>&1 &
    wait_for 10 polkit_answers
    expect chmod u+s /usr/lib/cgpu/cgpu-enter
    expect simgpu trace --start
}
