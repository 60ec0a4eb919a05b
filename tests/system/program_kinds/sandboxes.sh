# Programs in a chroot or a sandbox within their job: where the driver can be reached, the limit holds as anywhere; where it
# can't, cuInit gives an error at once, nothing is printed, and one line of cgpud's log says why, of whom, and what to do.
. "$(dirname "$0")/lib.sh"
learn_context_cost
wait_for 10 nothing_held

# A root in which only /usr and /etc are the job's: chrooted KEPT… -- PROGRAM. KEPT: which of its proc, dev and run are, too.
cat >"$scratch/chrooted" <<'TEXT'
root=$0.$$ program=${!#}
mkdir "$root" && mount -n -t tmpfs none "$root" || exit
for link in bin lib lib64 sbin; do [[ ! -e /$link ]] || ln -s "usr/$link" "$root/$link"; done
mkdir -p "$root"/{usr,etc,proc,dev,run,programs} || exit
for folder in usr etc; do mount -n --rbind "/$folder" "$root/$folder" || exit; done
mount -n --bind "${program%/*}" "$root/programs" || exit
while [[ $1 != -- ]]; do mount -n --rbind "/$1" "$root/$1" && shift || exit; done
exec chroot "$root" "/programs/${program##*/}"
TEXT
chrooted=(unshare --mount bash "$scratch/chrooted")
# The signal that ends a test's job would end bwrap at once, and not the program in it, which waits for it.
lasting=(bash -c 'trap "" TERM; exec "$@"' lasting)
bwrap=("${lasting[@]}" bwrap --ro-bind / / --unshare-pid)
user=("${lasting[@]}" setpriv --reuid 1000 --regid 1000 --clear-groups bwrap --ro-bind / / --unshare-pid)
dev=(--dev-bind /dev /dev) proc=(--proc /proc)

echo "--- where the driver can be reached"
kind 'chroot with all' -- "${chrooted[@]}" proc dev run -- "$kinds/linked"
kind 'bwrap' -- "${bwrap[@]}" "${dev[@]}" "${proc[@]}" "$kinds/linked"
kind 'bwrap, another user id' -- "${bwrap[@]}" --unshare-user --uid 1234 "${dev[@]}" "${proc[@]}" "$kinds/linked"
kind 'bwrap, of a user' -- "${user[@]}" "${dev[@]}" "${proc[@]}" "$kinds/linked"
kind 'bwrap, all unshared' -- "${user[@]}" --unshare-all "${dev[@]}" "${proc[@]}" "$kinds/linked"
kind 'bwrap, its own /run' -- "${bwrap[@]}" "${dev[@]}" "${proc[@]}" --tmpfs /run --ro-bind /run/cgpu /run/cgpu "$kinds/linked"
end_table

# unreachable WHAT CODE TEXT COMMAND…: cuInit gives this code to `patient` in such a place, and cgpud's log has this text, once.
unreachable() {
    local what=$1 code=$2 text=$3 before said pid
    before=$(lab-log | wc -l)
    job cut --mem 1GiB -- "${@:4}"
    wait_for 20 is_ready cut
    kill -USR1 $(pgrep -x patient)
    wait_for 20 has "$scratch/cut.out" '^done'
    expect_equal "cuInit, $what" "$(fact "$scratch/cut.out" init)" "$code"
    expect_equal "what is printed beside, $what" "$(cat "$scratch/cut.err")" ''
    wait_for 15 eval '[[ $(lines) ]]'
    sleep 3 # another look of cgpud, after which there is still one line
    said=$(lines)
    expect_equal "lines of the log, $what" "$(grep -c . <<<"$said")" 1
    [[ $said == *"$text"*'Try: '* ]] || fail "$what: the log says: $said"
    pid=$(sed -n 's/.*: process \([0-9]*\): .*/\1/p' <<<"$said")
    expect_equal "the process of the log, $what" "$(cat "/proc/$pid/comm")" patient
    expect nothing_held
    cgpuctl why cut --seconds 1 >"$scratch/why" || fail "why, $what"
    grep -q "^- Process $pid of it got no driver: .*Try: " "$scratch/why" || fail "why, $what: $(cat "$scratch/why")"
    kill -TERM $(pgrep -x patient)
    wait "${pids[cut]}"
    wait_for 10 none_listed
    echo "$what: $code, ${said#*: }"
}
lines() { tail -n "+$((before + 1))" <(lab-log) | grep -E "gets? no driver|finds no GPU"; }

echo "--- where it can't"
program=$kinds/patient no_link='/run/cgpu' no_proc="/proc isn't mounted" no_device='/dev lacks the devices'
unreachable 'chroot without /run' 802 "$no_link" "${chrooted[@]}" proc dev -- "$program"
unreachable 'chroot without /proc' 802 "$no_proc" "${chrooted[@]}" dev run -- "$program"
unreachable 'chroot without /dev' 100 "$no_device" "${chrooted[@]}" proc run -- "$program"
unreachable 'chroot with nothing' 802 "$no_link" "${chrooted[@]}" -- "$program"
unreachable 'bwrap, its own /dev' 100 "$no_device" "${bwrap[@]}" --dev /dev "${proc[@]}" "$program"
unreachable 'bwrap, no /proc' 802 "$no_proc" "${user[@]}" "${dev[@]}" --tmpfs /proc "$program"
unreachable 'bwrap, an empty /run' 802 "$no_link" "${user[@]}" "${dev[@]}" "${proc[@]}" --tmpfs /run "$program"

# Again and again: told at once, and then together.
before=$(lab-log | wc -l)
job again --mem 1GiB -- bash -c 'for i in {1..30}; do "$@"; done' again "${bwrap[@]}" --dev /dev "${proc[@]}" "$kinds/linked"
wait "${pids[again]}"
wait_for 10 none_listed
expect_between "lines about 30 programs" "$(lines | wc -l)" 1 8
