# cgpuctl top in a real terminal, tmux's, as a user drives it: sizes, keys, without colour, while cgpud is away, and every way in
# which it can end. What its keys change is read back by cgpuctl.
. "$(dirname "$0")/../lib.sh"
command -v tmux >/dev/null || skip "tmux is not installed. Try: apt-get install tmux."
asks=("${four_of_15[@]}")
. "$CGPU_LAB/cgpud.sh"

# A server of its own, which ends with the test.
export TMUX_TMPDIR=$scratch LC_ALL=C.UTF-8
unset TMUX NO_COLOR
tm() { tmux -u -L top -f /dev/null "$@"; }
trap 'status=$?; ((status)) && screen; tm kill-server 2>/dev/null; finish $status' EXIT
screen() { tm capture-pane -p -t pane "$@"; }
keys() { tm send-keys -t pane "$@"; }
shows() { screen | grep -qE -- "$1"; }
shows_not() { ! shows "$1"; }
# last_line TEXT: the line at the bottom, where questions stand.
last_line() { screen | tail -n 1 | grep -qE -- "$1"; }
# terminal: whether the alternate screen is shown, and the cursor.
terminal() { tm display-message -p -t pane '#{alternate_on} #{cursor_flag}'; }
is_left() { [[ $(terminal) == '0 1' ]] && shows "$1"; }
# is_whole: the title is at the top, the keys are at the bottom, and there is one line for each instance: none was broken.
is_whole() {
    screen | head -n 1 | grep -q '^cgpu [0-9.]* *[0-9:]*  every 0.2 s' && last_line '^q end  ' &&
        (($(screen | grep -cE '^  [01] ([0-9a-f]{12} )?(one|two|holder) ') == 3))
}
# colours: the codes of colours on the screen, a line each.
colours() {
    screen -e | grep -oP '\e\[\K[0-9;]+(?=m)' | tr ';' '\n' | awk '($1 >= 30 && $1 <= 38) || ($1 >= 40 && $1 <= 48) || $1 >= 90'
}
# The shell that calls top is one without job control: an interactive one would repair the terminal after a program that a signal
# ended.
cat >"$scratch/call" <<'TEXT'
trap : INT
number=$1 folder=$2
shift 2
stty -g >"$folder/before"
env "$@" cgpuctl top -d 0.2
echo "left-$number with $?"
stty -g >"$folder/after"
TEXT
# start NAME=VALUE…: top, by that shell, with this in its environment.
number=0
start() {
    number=$((number + 1))
    rm -f "$scratch/after"
    keys C-l "bash $scratch/call $number $scratch $*" Enter
    wait_for 10 shows 'NAME .* MEMORY'
    expect_equal "the alternate screen is shown, and the cursor isn't" "$(terminal)" '1 0'
}
# expect_left STATUS: it has ended so, and the terminal is as it was.
expect_left() {
    wait_for 10 is_left "^left-$number with $1\$"
    wait_for 5 test -s "$scratch/after"
    expect_equal "settings of the terminal after it" "$(<"$scratch/after")" "$(<"$scratch/before")"
}
pid_of_top() { pgrep -x -f 'cgpuctl top -d 0.2'; }

expect cgpuctl set-policy 0 weighted
job holder --gpus 1 -- alloc --mib 300 --hold
job one --gpus 0 --weight 1 -- burn --forever --kernel-us 1000
job two --gpus 0 --weight 2 -- burn --forever --kernel-us 1000
for name in holder one two; do wait_for 20 is_ready "$name"; done

# 80×24: instances under load with what they are due and get.
tm new-session -d -s pane -x 80 -y 24 'exec bash --norc --noprofile -i'
start
wait_for 10 shows '^  0 one +1 +33\.3% +3[0-9.]+% ██'
wait_for 10 shows '^  0 two +2 +66\.7% +6[0-9.]+% █████'
wait_for 5 shows '^  1 holder +1 .* [0-9]+/4301$'
wait_for 5 shows '^GPU  0 weighted +2/20 util +(9[0-9]|100)% ██'
wait_for 5 is_whole
[[ $(colours) ]] || fail "there is no colour"

# Sizes.
tm resize-window -t pane -x 120 -y 40
wait_for 5 shows 'GPU ID  .* PROC '
wait_for 5 is_whole
expect_equal "lines" "$(screen | wc -l)" 40
tm resize-window -t pane -x 60 -y 15
wait_for 5 shows_not 'HISTORY'
wait_for 5 shows '^  1 holder '
wait_for 5 is_whole
expect_equal "lines" "$(screen | wc -l)" 15
tm resize-window -t pane -x 80 -y 24
wait_for 5 shows 'HISTORY'

# Sorting, filter, help.
keys s s
shows_first() { [[ $(screen | grep -A 1 'NAME .* MEMORY' | tail -n 1) =~ ^\ *[01]\ $1\  ]]; }
wait_for 5 shows_first two
keys /
wait_for 5 last_line '^Only '
keys hol Enter
wait_for 5 shows_not '^  0 (one|two) '
wait_for 5 shows '^  1 holder '
keys Escape
wait_for 5 shows '^  0 one '
keys '?'
wait_for 5 shows 'set the weight of the selected instance'
keys q
wait_for 5 shows '^  0 one '

# A weight: the daemon's refusal is shown, a no changes nothing, a yes does.
select_one() { keys Home / one Enter; wait_for 5 shows_not '^  0 two '; }
weight_of() { cgpuctl show "$1" --json | jq '.gpus[0].weight'; }
select_one
keys w
wait_for 5 last_line '^New weight of one on GPU 0 \(now 1; '
keys 99 Enter
wait_for 5 last_line '^Weight 99 of one on GPU 0: set it\? '
keys y
wait_for 5 shows '^weight 99 for instance .*out of range\. Try: '
expect_equal "weight after a refusal" "$(weight_of one)" 1
keys w 4 Enter
wait_for 5 last_line '^Weight 4 of one on GPU 0: set it\? '
keys n
wait_for 5 last_line '^Nothing was changed\.$'
expect_equal "weight after a no" "$(weight_of one)" 1
keys w 4 Enter y
wait_for 5 shows '^Weight 4 of one on GPU 0 is set\.$'
expect_equal "weight after a yes" "$(weight_of one)" 4
wait_for 5 shows '^  0 one +4 '

# Priority and policy.
keys p high Enter y
wait_for 5 shows '^High priority of one on GPU 0 is set\.$'
expect_equal "priority" "$(cgpuctl show one --json | jq '.gpus[0].high_priority')" true
keys p normal Enter y
wait_for 5 shows '^Normal priority of one on GPU 0 is set\.$'
keys P fair Enter
wait_for 5 shows '^policy "fair": it is not one of '
wait_for 5 shows 'Try: type '
keys -- -share Enter y
wait_for 5 shows '^Policy fair-share of GPU 0 is set\.$'
expect_equal "policy" "$(cgpuctl show 0 --json | jq -r .policy_name)" fair-share
expect cgpuctl set-policy 0 weighted
keys Escape

# While it is paused nothing changes; then the figures are new.
keys Space
wait_for 5 shows '^cgpu .* paused '
screen >"$scratch/paused"
expect cgpuctl set-weight one 3
expect_equal "a paused screen" "$(screen)" "$(<"$scratch/paused")"
tm resize-window -t pane -x 120 -y 40
wait_for 5 shows 'GPU ID  .* PROC '
tm resize-window -t pane -x 80 -y 24
wait_for 5 shows_not ' PROC '
keys Space
wait_for 5 shows '^  0 one +3 '

# cgpud is killed: the view stays, says so, doesn't start it, and continues with the next one.
stop_cgpud KILL
wait_for 10 shows "^cgpud: .*Try: systemctl start cgpud"
expect shows '^  0 one +3 '
owns_name && fail "top has started cgpud"
expect start_cgpud
wait_for 10 shows '^cgpud answers again\.$'
wait_for 20 shows '^  0 two +2 .* [1-9][0-9.]*% █'
keys q
expect_left 0

# Killed: each signal leaves the terminal as it was. 128 + 15, 1, 2.
for signal in TERM:143 HUP:129 INT:130; do
    start
    expect kill -s "${signal%:*}" "$(pid_of_top)"
    expect_left "${signal#*:}"
done
start
keys C-c
expect_left 130
# After SIGKILL two commands do what docs/cgpuctl.md says.
start
expect kill -s KILL "$(pid_of_top)"
wait_for 10 shows "left-$number with 137"
given_back() { [[ $(terminal) == '0 1' ]]; }
keys 'reset; tput rmcup' Enter
wait_for 10 given_back
# While cgpud doesn't answer, keys and signals still do.
start
kill -STOP "$(<"$CGPU_LAB/cgpud.pid")"
keys '?'
wait_for 5 shows 'set the weight of the selected instance'
keys Escape q
expect_left 0
kill -CONT "$(<"$CGPU_LAB/cgpud.pid")"
# Stopped by Ctrl-Z, the terminal is the shell's; then it continues. By the interactive shell itself: another one between them
# would be stopped at the same time, before the terminal is given back.
keys C-l 'cgpuctl top -d 0.2' Enter
wait_for 10 shows 'NAME .* MEMORY'
keys C-z
wait_for 10 is_left '\+ +Stopped '
keys fg Enter
wait_for 10 shows 'NAME .* MEMORY'
expect_equal "the alternate screen after fg" "$(terminal)" '1 0'
keys q
wait_for 10 given_back

# Without colour, and without UTF-8.
start NO_COLOR=1
wait_for 10 shows '^  0 two .* ██'
expect_equal "codes of colours with NO_COLOR" "$(colours)" ''
keys q
expect_left 0
start LC_ALL=C
wait_for 10 shows '^  0 two .* ####'
screen | LC_ALL=C grep -q '[^ -~]' && fail "there is more than ASCII in a locale without UTF-8"
keys q
expect_left 0

# Terminals that can't be drawn on, and none.
for term in dumb no-such-terminal; do
    keys C-l "TERM=$term cgpuctl top; echo refused-$term with \$?" Enter
    wait_for 5 shows "^refused-$term with 2\$"
    expect shows 'Try: '
done
expect_error 'must be a terminal.* Try: cgpuctl top --batch' cgpuctl top </dev/null
cgpuctl top --batch -n 2 -d 0.3 >"$scratch/frames"
expect_equal "rows in two frames" "$(grep -cE '^  [01] (one|two|holder) ' "$scratch/frames")" 6
expect_equal "colours in frames" "$(grep -c $'\e' "$scratch/frames")" 0

for name in holder one two; do end_job "$name"; done
wait_for 5 none_listed
