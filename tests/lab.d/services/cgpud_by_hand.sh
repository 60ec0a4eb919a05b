# cgpud in a node without systemd. The same functions as in cgpud_by_systemd.sh; sourced as $CGPU_LAB/cgpud.sh, in the node.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../wait.sh"

owns_name() {
    [[ $(busctl call org.freedesktop.DBus / org.freedesktop.DBus NameHasOwner s org.cgpu1 2>/dev/null) == 'b true' ]]
}

# start_cgpud [ARGUMENT…]: in a clean environment, as systemd would; ready when it owns its name.
start_cgpud() {
    env -i --default-signal=INT,QUIT PATH=/usr/sbin:/usr/bin "${own_session[@]}" /usr/sbin/cgpud "$@" >>"$CGPU_LAB/cgpud.log" 2>&1 </dev/null &
    echo $! >"$CGPU_LAB/cgpud.pid"
    wait_until 15 owns_name_or_dead
    owns_name
}

cgpud_runs() {
    kill -0 "$(cat "$CGPU_LAB/cgpud.pid")" 2>/dev/null
}

owns_name_or_dead() {
    owns_name || ! cgpud_runs
}

# stop_cgpud SIGNAL: and waits for its end.
stop_cgpud() {
    local pid
    pid=$(cat "$CGPU_LAB/cgpud.pid") || return
    kill -s "$1" "$pid" 2>/dev/null || return 0
    wait_until 10 test ! -d "/proc/$pid"
}

cgpud_log() {
    cat "$CGPU_LAB/cgpud.log"
}
