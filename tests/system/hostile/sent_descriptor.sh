# A process of a job sends a descriptor to cgpud that makes whoever closes it wait, or whoever reads from it: cgpud serves the
# others as before.
. "$(dirname "$0")/../lib.sh"
sender=$(realpath "$(dirname "$0")/sent_descriptor.py")
ip link set lo up 2>/dev/null

# answers WHAT: cgpud does, long before the sender's ten minutes are over, and takes another job.
answers() {
    timeout 10 cgpuctl list >"$scratch/list" || fail "$1: no list"
    timeout 20 cgpuctl run --mem 1GiB -- alloc --mib 16 >"$scratch/honest" 2>&1 || fail "$1: no job: $(cat "$scratch/honest")"
}
has_sent() { has "$scratch/$1.out" '^sent'; }

for way in first hello welcomed unread; do
    job "$way" --mem 1GiB -- python3 "$sender" socket "$way"
    wait_for 20 has_sent "$way"
    answers "$way"
    kill -KILL "${pids[$way]}"
    wait_for 20 none_listed
    answers "$way, after its end"
done
expect in_log 'its connection was closed'

if [[ -c /dev/fuse ]]; then
    echo "A file whose server doesn't answer, handed over as a driver"
    mkdir "$scratch/fuse"
    unshare --mount python3 "$sender" files "$scratch/fuse" >"$scratch/files.out" 2>"$scratch/files.err" &
    files=$!
    wait_for 20 has_sent files
    answers "files"
    expect lab-restart-cgpud
    answers "files, after a restart"
    # The process that serves the files is its child.
    kill -KILL $(pgrep -P "$files") "$files"
    wait_for 20 none_listed
    answers "files, after their end"
fi
