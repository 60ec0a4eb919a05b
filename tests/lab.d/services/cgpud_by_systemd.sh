# cgpud in a node with systemd. The same functions as in cgpud_by_hand.sh; sourced as $CGPU_LAB/cgpud.sh, in the node.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../wait.sh"

start_cgpud() {
    systemctl start cgpud
}

cgpud_runs() {
    systemctl is-active -q cgpud
}

# stop_cgpud SIGNAL: it stays stopped, however it ended, until it is started or called on the bus.
stop_cgpud() {
    systemctl kill -s "$1" cgpud 2>/dev/null
    systemctl stop cgpud && systemctl reset-failed cgpud 2>/dev/null
    return 0
}

cgpud_log() {
    journalctl --sync
    journalctl -u cgpud --no-pager -o short-precise
}
