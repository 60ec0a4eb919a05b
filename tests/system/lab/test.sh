# test.sh LAB…: the lab keeps the caller's folder, /tmp, environment, input and exit status; ends all it started,
# however it ends itself; and starts nothing where it was called wrongly.
. "$(dirname "$0")/../lib.sh"
lab=("$@" --gpus V100:16130MiB)

# gone NAMESPACE: no process of this pid namespace is left, cgpud and the bus included.
gone() {
    ! readlink /proc/[0-9]*/ns/pid | grep -qxF "$1"
}

cd "$scratch" || fail "no scratch folder"
expect_equal "folder, environment, input" \
    "$(echo a line | KEPT=value "${lab[@]}" -- bash -c 'read -r line; echo "$PWD,$KEPT,$line"')" "$scratch,value,a line"
"${lab[@]}" -- bash -c 'touch seen; exit 7'
expect_equal "exit status" $? 7
expect test -e seen
"${lab[@]}" -- sh -c 'kill -KILL $$'
expect_equal "exit status of a killed command" $? 137
"${lab[@]}" -- no-such-command 2>/dev/null
expect_equal "exit status of a missing command" $? 127

for signal in TERM INT KILL; do
    mkfifo "started-$signal"
    # What bash puts in the background ignores SIGINT, the lab too.
    env --default-signal=INT "${lab[@]}" -- \
        bash -c 'setsid sleep 600 & readlink /proc/self/ns/pid >"$1"; exec sleep 600' - "started-$signal" &
    lab_process=$!
    read -r namespace <"started-$signal"
    if gone "$namespace"; then fail "nothing runs in $namespace"; fi
    kill -s "$signal" "$lab_process"
    wait "$lab_process" 2>/dev/null
    expect_equal "exit status after $signal" $? $((128 + $(kill -l "$signal")))
    wait_for 5 gone "$namespace"
done

expect_error 'needs a value' "$1" --gpus
expect_error 'unknown argument' "$1" --bogus
expect_error 'no built tree' "$1" --gpus V100:16130MiB --build "$scratch" -- true
expect_error 'lab: ' "$@" --gpus nonsense -- true
