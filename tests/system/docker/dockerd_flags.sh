#!/usr/bin/env bash
# A dockerd with flags of its own: what cgpuctl runtime configure says is so, in the dockerd that runs and in the next one; or it
# refuses and changes nothing.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ -f $CGPU_LAB/dockerd.pid ]] || skip "dockerd is systemd's here"
file=/etc/docker/daemon.json
program=/usr/bin/nvidia-container-runtime
in_force() { docker info -f '{{range $name, $runtime := .Runtimes}}{{$name}} {{end}}; {{.DefaultRuntime}}'; }
is_gone() { [[ ! -d /proc/$1 ]]; }
end_docker() {
    local pid
    pid=$(cat "$CGPU_LAB/dockerd.pid")
    kill -TERM "$pid"
    wait_for 20 is_gone "$pid"
}
# with FLAG…: dockerd starts with them.
with() {
    end_docker
    rm -f "$CGPU_LAB/docker.pid" /var/run/docker.pid
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin setsid dockerd "$@" >"$scratch/dockerd.log" 2>&1 </dev/null &
    echo $! >"$CGPU_LAB/dockerd.pid"
    wait_for 30 docker_answers
}
expect cgpuctl runtime configure --remove -q
found=$(cat $file)
before=$scratch/found.json
cp $file "$before"

echo "A setting that is a flag can't be in the file, too."
with --add-runtime=nvidia=$program --default-runtime nvidia
for option in '' --default '--as nvidia'; do
    # shellcheck disable=SC2086 # words
    expect_error 'is started with --add-runtime.* nothing was changed. Try: add --add-runtime cgpu=/usr/bin/cgpu-runtime' cgpuctl runtime configure $option
    expect cmp $file "$before"
done
[[ ! -e $file.before-cgpu ]] || fail "it left $file.before-cgpu"
with --default-runtime=runc
expect_error 'is started with --default-runtime' cgpuctl runtime configure --default
expect cmp $file "$before"
expect cgpuctl runtime configure --as nvidia -q
grep -q ' nvidia .*; runc' <(in_force) || fail "in force: $(in_force)"
with --default-runtime=runc
grep -q '^cgpu .* nvidia .*; runc' <(in_force) || fail "in force after a start: $(in_force)"
expect cgpuctl runtime configure --remove -q
expect cmp $file "$before"
[[ $(in_force) != *cgpu* ]] || fail "still in force: $(in_force)"
with --default-runtime=runc

echo "What the flags have needs no file."
with --add-runtime cgpu=/usr/bin/cgpu-runtime --default-runtime cgpu
expect_equal "with cgpu's flags" "$(cgpuctl runtime configure --default | sed 's/pid [0-9]*/pid N/')" \
    "dockerd (pid N): it has the runtime cgpu by its flags; $file was not changed."

echo "Another file is found by the flag, and written there."
jq '. + {"debug": false}' $file >"$scratch/other.json"
echo '{}' >$file
cp "$scratch/other.json" "$scratch/other.found"
with --config-file "$scratch/other.json"
expect cgpuctl runtime configure --default -q
expect_equal "$file" "$(cat $file)" '{}'
grep -q '^cgpu .*; cgpu' <(in_force) || fail "in force: $(in_force)"
expect_equal "doctor" "$(cgpuctl doctor --json 2>/dev/null | jq -r '.findings? // . | .[] | select(.check == "Docker") | .level')" ok
jq '."default-runtime" = "runc"' "$scratch/other.json" >"$scratch/changed" && cat "$scratch/changed" >"$scratch/other.json"
cgpuctl status 2>&1 | grep -q 'another program has changed default-runtime.*Try: cgpuctl runtime configure --default' ||
    fail "status doesn't know: $(cgpuctl status 2>&1)"
cgpuctl doctor 2>/dev/null | grep -q 'had set default-runtime, and another program' || fail "doctor doesn't know"
cp "$scratch/other.found" "$scratch/other.json"
expect cgpuctl runtime configure --default -q
expect cgpuctl runtime configure --remove -q
expect cmp "$scratch/other.json" "$scratch/other.found"
grep -q '; runc' <(in_force) || fail "in force: $(in_force)"

echo "A Swarm's resources go into the same file, and not beside those of a flag."
expect cgpuctl swarm configure -q
expect_equal "$file" "$(cat $file)" '{}'
grep -q cgpu_memory_mib=16130 "$scratch/other.json" || fail "the file: $(cat "$scratch/other.json")"
expect cgpuctl swarm configure --remove -q
! grep -q cgpu_ "$scratch/other.json" || fail "still in the file: $(cat "$scratch/other.json")"
with --config-file "$scratch/other.json" --node-generic-resource ssd=2
cp "$scratch/other.json" "$scratch/other.before"
expect_error 'is started with --node-generic-resource.* nothing was changed. Try: move ' cgpuctl swarm configure
expect cmp "$scratch/other.json" "$scratch/other.before"
cp "$scratch/other.found" "$scratch/other.json"

echo "What dockerd doesn't take is taken back: another key of the file is a flag, too."
jq '. + {"labels": ["a=b"]}' "$scratch/other.found" >"$scratch/conflict.json"
with --config-file "$scratch/other.json" --label c=d
cat "$scratch/conflict.json" >"$scratch/other.json"
expect_error "didn't take the runtime.* The file is as it was" cgpuctl runtime configure
expect cmp "$scratch/other.json" "$scratch/conflict.json"

echo "Where no dockerd runs, the file is written for the next one."
cp "$scratch/other.found" "$scratch/other.json"
printf '%s\n' "$found" >$file
end_docker
expect_equal "said" "$(cgpuctl runtime configure)" \
    "$file: it has the runtime cgpu (docker run --runtime=cgpu …); no dockerd runs that reads it: one will when it starts."
start_docker || fail "dockerd does not start: $(tail -n 3 "$CGPU_LAB/docker.log")"
[[ $(in_force) == *cgpu* ]] || fail "in force: $(in_force)"
