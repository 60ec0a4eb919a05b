# Sourced by the tests whose cgpud keeps its state on a disk that fails (tests/programs/disk).
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
. "$CGPU_LAB/cgpud.sh"
/usr/bin/python3 -c 'import gi' 2>/dev/null || skip "python3-gi is not here, by which the clients call"
[[ -e /dev/fuse ]] || skip "this machine has no /dev/fuse"
state=/var/lib/cgpu
socket=$scratch/disk

# tell ORDER…: the disk; its answer is printed.
tell() { unsafe_disk --socket "$socket" --tell "$*"; }

# start: cgpud. The shell doesn't say that it was killed.
start() {
    start_cgpud
    local status=$?
    disown "$(cat "$CGPU_LAB/cgpud.pid")"
    return $status
}

# begin_disk: cgpud's state is on a disk that is told what to do.
begin_disk() {
    expect stop_cgpud TERM
    unsafe_disk --socket "$socket" --at $state >"$scratch/disk.out" 2>&1 &
    wait_for 10 has "$scratch/disk.out" '^ready'
    expect start
}

# The disk itself: what was synced is there after a cut, and of the rest anything between nothing and all. A test on a disk that
# loses nothing would find nothing.
check_disk() {
    local seed file kept=0 lost=0
    for seed in {1..20}; do
        /usr/bin/python3 - "$state" "$seed" <<'PYTHON' || fail "the disk does not do what a disk does"
import os, sys
folder, seed = os.open(sys.argv[1], os.O_DIRECTORY), sys.argv[2]
with open(f"{sys.argv[1]}/synced", "w") as file:
    file.write(seed)
    file.flush()
    os.fsync(file.fileno())
os.fsync(folder)
with open(f"{sys.argv[1]}/synced", "a") as file:
    file.write("x" * 5000)
os.rename(f"{sys.argv[1]}/synced", f"{sys.argv[1]}/renamed")
PYTHON
        tell cut "$seed" >/dev/null
        [[ -e $state/synced || -e $state/renamed ]] || fail "the disk lost a name that it had"
        [[ -e $state/renamed ]] && kept=$((kept + 1)) || lost=$((lost + 1))
        for file in $state/{synced,renamed}; do
            [[ ! -e $file || $(head -c ${#seed} "$file") == "$seed" ]] || fail "the disk lost what was synced"
            rm -f "$file"
        done
    done
    ((kept > 0 && lost > 0)) || fail "of $((kept + lost)) renames, the disk kept $kept"
}
