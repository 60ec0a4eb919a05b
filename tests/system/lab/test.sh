# test.sh LAB…: in the lab (of either kind) cgpud runs; it keeps the caller's folder, /tmp, environment, input and exit
# status; it leaves nothing behind, however it ends; and it starts nothing if it was called wrongly.
. "$(dirname "$0")/../lib.sh"
lab=("$@" --gpus V100:16130MiB)

. "$(dirname "$0")/../../lab.d/groups.sh"

mounts() { cut -d ' ' -f 4- /proc/self/mountinfo | sort; }
# gone NAMESPACE: no process of this pid namespace is left: neither cgpud and the bus, nor systemd.
gone() { ! readlink /proc/[0-9]*/ns/pid | grep -qxF "$1"; }

cd "$scratch" || fail "no scratch folder"
mounts >mounts.before
touch -d '1 year ago' old
expect_equal "folder, environment, input" \
    "$(echo a line | KEPT=value "${lab[@]}" -- bash -c 'read -r line; echo "$PWD,$KEPT,$line"')" "$scratch,value,a line"
# shellcheck disable=SC2016
expect "${lab[@]}" -- bash -c '. "$CGPU_LAB/cgpud.sh" && cgpud_runs'
"${lab[@]}" -- bash -c 'touch seen; [[ -e old ]] && exit 7'
expect_equal "exit status" $? 7
expect test -e seen
expect_equal "control groups left" "$(left_groups)" ''
"${lab[@]}" -- sh -c 'kill -KILL $$'
expect_equal "exit status of a killed command" $? 137
"${lab[@]}" -- no-such-command 2>/dev/null
expect_equal "exit status of a missing command" $? 127

for signal in TERM INT KILL; do
    mkfifo "started-$signal"
    # A process that bash starts in the background ignores SIGINT, and so does the lab. (And while a child of its own is in
    # the foreground, bash ignores a SIGINT: so none is when the test continues.)
    env --default-signal=INT "${lab[@]}" -- \
        bash -c 'setsid sleep 600 & echo "$(readlink /proc/self/ns/pid)" >"$1"; exec sleep 600' - "started-$signal" &
    lab_process=$!
    read -r namespace <"started-$signal"
    if gone "$namespace"; then fail "nothing runs in $namespace"; fi
    kill -s "$signal" "$lab_process"
    wait "$lab_process" 2>/dev/null
    expect_equal "exit status after $signal" $? $((128 + $(kill -l "$signal")))
    wait_for 10 gone "$namespace"
done
# The next lab removes the control groups of a killed one.
expect "${lab[@]}" -- true
expect_equal "control groups left" "$(left_groups)" ''
mounts >mounts.after
expect diff mounts.before mounts.after

expect_error 'needs a value' "$1" --gpus
expect_error 'unknown argument' "$1" --bogus
expect_error 'no built tree' "$1" --gpus V100:16130MiB --build "$scratch" -- true
expect_error 'lab: ' "$@" --gpus nonsense -- true
