# Things that are no files, or are far too long, where cgpud and the doctor read files, and a file system that doesn't answer: each
# is named, with what mends it, and nobody waits for its other end. A signal ends cgpud while it reads.
. "$(dirname "$0")/../lib.sh"
. "$CGPU_LAB/cgpud.sh"
state=/var/lib/cgpu
mkdir -p /etc/cgpu/cgpud.yaml.d /etc/docker

# Who waits for the other end of a pipe waits for ever: the seconds are those of a machine that is busy with something else.
in_time() {
    timeout --kill-after=1 "${limit:-60}" "$@"
    local status=$?
    ((status != 124 && status != 137)) || fail "it did not end: $*"
    return $status
}

kinds=(pipe folder socket device link nowhere huge)
put() { # KIND PATH: one of this kind is there.
    rm -rf "$2" "$scratch/pipe"
    case $1 in
    pipe) mkfifo "$2" ;;
    folder) mkdir "$2" ;;
    socket) python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$2" ;;
    device) ln -s /dev/zero "$2" ;;
    link) mkfifo "$scratch/pipe" && ln -s "$scratch/pipe" "$2" ;;
    nowhere) ln -s /nonexistent/file "$2" ;;
    huge) truncate -s 1T "$2" ;;
    esac || fail "no $1 can be made at $2"
}
# What is said of it; where links are refused whatever they lead to, `link` is what is said of them.
declare -A why=([pipe]='it is a pipe, not a file' [folder]='it is a folder, not a file' [socket]='it is a socket, not a file'
    [device]='it is a device, not a file' [link]='it is a pipe, not a file' [nowhere]='it is a symbolic link that leads nowhere'
    [huge]='it is longer than [0-9]+MiB')
declare -A why_no_link=([pipe]="${why[pipe]}" [folder]="${why[folder]}" [socket]="${why[socket]}" [device]='it is a symbolic link'
    [link]='it is a symbolic link' [nowhere]='it is a symbolic link')

# doctor_finds CHECK LEVEL TEXT
doctor_finds() {
    in_time cgpuctl doctor --json >"$scratch/doctor.out" 2>"$scratch/doctor.err"
    jq -e --arg check "$1" --arg level "$2" --arg text "$3" '.findings | any(.check == $check and .level == $level and
        (.what + ": " + .why | test($text)) and (.fix | length > 0))' "$scratch/doctor.out" >/dev/null ||
        fail "the doctor doesn't say: $*: $(jq -c '.findings[] | select(.level != "ok")' "$scratch/doctor.out")"
    jq -e '.findings | any(.check == "polkit")' "$scratch/doctor.out" >/dev/null || fail "the last check is missing"
}
# start_refused TEXT: cgpud doesn't start, and says so.
start_refused() {
    said=$(in_time /usr/sbin/cgpud 2>&1) && fail "cgpud ended well: $1"
    grep -qE -- "$1.*Try: " <<<"$said" || fail "cgpud said: $said, expected: $1"
}

echo "Among the configuration's files: cgpud goes on with what it has, and doesn't start anew."
for kind in "${kinds[@]}"; do
    for file in /etc/cgpu/cgpud.yaml /etc/cgpu/cgpud.yaml.d/x.yaml "$scratch/named.yaml"; do
        put "$kind" "$file"
        if [[ $file == "$scratch"/* ]]; then
            # A named file has to be there.
            [[ $kind == nowhere ]] && wanted='it does not exist' || wanted=${why[$kind]}
            expect_error "$file: the file.*: .*$wanted.*Try: " in_time cgpud --check-files "$file"
            expect_error "$file: the file.*: .*${why[$kind]}.*Try: " in_time cgpud --check --config "$file"
        else
            expect_error "$file: the file.*: .*${why[$kind]}.*Try: " in_time cgpud --check
            start_refused "$file: the file.*: .*${why[$kind]}"
        fi
        rm -rf "$file"
    done
done
put pipe /etc/cgpu/cgpud.yaml
doctor_finds configuration problem "${why[pipe]}"
kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
wait_for 10 in_log "the configuration stays as it was.*|cgpud.yaml: the file: ${why[pipe]}"
rm /etc/cgpu/cgpud.yaml
expect in_time cgpud --check >/dev/null

echo "In the place of the state, the leases and the history."
expect stop_cgpud TERM
cp "$state/state.json" "$scratch/state.json"
for kind in "${kinds[@]}"; do
    put "$kind" $state/state.json
    if [[ $kind == huge ]]; then
        # That is damage, so the former state is taken.
        expect start_cgpud
        expect in_log "state file $state/state.json: it can't be read: ${why[$kind]}.* The state before its last change"
        expect stop_cgpud TERM
        rm $state/state.json.damaged
    else
        expect_error "state file $state/state.json: it can't be read: ${why[$kind]}.*Try: " in_time cgpud --check
        start_refused "state file $state/state.json: it can't be read: ${why[$kind]}"
    fi
    rm -rf $state/state.json
    cp "$scratch/state.json" $state/state.json

    put "$kind" /run/cgpu/leases
    if [[ $kind == huge ]]; then
        expect start_cgpud
        expect in_log 'lease file .*: it is longer than 64MiB'
        expect stop_cgpud TERM
    else
        expect_error "lease file /run/cgpu/leases: ${why_no_link[$kind]}.*Try: remove it" in_time cgpud --check
        start_refused "lease file /run/cgpu/leases: ${why_no_link[$kind]}"
    fi
    rm -rf /run/cgpu/leases{,.damaged}

    # Without a history cgpud does all the rest.
    put "$kind" $state/history
    expect in_time cgpud --check >"$scratch/check.out" 2>&1
    expect start_cgpud
    if [[ $kind == huge ]]; then
        expect in_log 'history .*: it is no history. It was moved to'
    else
        expect has "$scratch/check.out" "warning: history $state/history: ${why_no_link[$kind]}.*Try: move it away"
        expect in_log "history $state/history: ${why_no_link[$kind]}"
        expect_error "history .*: ${why_no_link[$kind]}.*Try: " in_time cgpuctl report
    fi
    expect stop_cgpud TERM
    rm -rf $state/history{,.damaged}
done
for file in $state/state.json /run/cgpu/leases $state/history; do
    put pipe "$file"
    doctor_finds configuration "$([[ $file == */history ]] && echo warning || echo problem)" "$file.*${why[pipe]}"
    rm "$file"
done
cp "$scratch/state.json" $state/state.json

echo "Put there while cgpud runs."
expect start_cgpud
for file in /run/cgpu/unmanaged $state/history; do put pipe "$file"; done
echo 'unmanaged: refuse' >/etc/cgpu/cgpud.yaml
kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
wait_for 10 in_log "/run/cgpu/unmanaged: ${why[pipe]}"
expect_error "history .*: ${why[pipe]}.*Try: " in_time cgpuctl report
rm /run/cgpu/unmanaged $state/history /etc/cgpu/cgpud.yaml
kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
expect in_time cgpuctl set-policy 0 fixed -q

echo "In the place of an engine's file."
for kind in pipe folder socket device link nowhere; do
    put "$kind" /etc/docker/daemon.json
    # Without a dockerd, a link that leads nowhere is no file of Docker's for the doctor.
    [[ $kind == nowhere ]] || doctor_finds Docker problem "${why[$kind]}"
    expect_error "/etc/docker/daemon.json: it can't be read: ${why[$kind]}.*Try: " in_time cgpuctl runtime configure
    rm -rf /etc/docker/daemon.json
done

echo "A file system that doesn't answer: signals end cgpud, and the doctor says which check hangs."
[[ -e /dev/fuse ]] || skip "this machine has no /dev/fuse"
km=/run/cgpu/km
mounted() { [[ -e $km/version ]]; }
cgpu-fs >"$scratch/fs.out" 2>"$scratch/fs.err" &
tree=$!
wait_for 10 mounted
# Elsewhere: a folder of cgpud's may not lie in another one.
gone=$scratch/gone
mkdir "$gone" && mount -n --bind $km "$gone" || fail "the tree can't be mounted elsewhere"
kill -STOP $tree
# It waits for the file system, in the kernel.
waits_there() { grep -qE 'fuse|request_wait' "/proc/$reads/wchan" "/proc/$reads/stack" 2>/dev/null; }
ended() { [[ ! -d /proc/$reads || $(cut -d' ' -f3 "/proc/$reads/stat" 2>/dev/null) == Z ]]; }
for arguments in "--check --config $gone/0/max_inst" "--config $gone/0/max_inst" "--set state_dir=$gone/0"; do
    for signal in TERM INT; do
        # shellcheck disable=SC2086
        env --default-signal=INT setsid /usr/sbin/cgpud $arguments >"$scratch/reads.out" 2>&1 &
        reads=$!
        wait_for 10 waits_there
        kill -$signal $reads
        wait_for 10 ended
        wait $reads
        expect_equal "the end of cgpud $arguments" $? "$([[ $signal == TERM ]] && echo 143 || echo 130)"
    done
done
ln -s "$gone/0/max_inst" /etc/docker/daemon.json
doctor_finds Docker problem 'this check did not end within 10 seconds'
rm /etc/docker/daemon.json
kill -KILL $tree
umount -n -l "$gone" $km
