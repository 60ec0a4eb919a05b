# The driver is covered in whatever folder it is, however many folders a job's environment names before it; for root and for a
# user.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/spellings.sh"
limit=$((2 << 30))

# What looks like a driver, in the folder that comes first.
decoy=$scratch/decoy
chmod 755 "$scratch"
mkdir "$decoy" && cp -L /usr/lib/x86_64-linux-gnu/libcuda.so.1 "$decoy/libcuda.so.1"
path=$(decoy_path "$decoy")
user=(setpriv --reuid 1000 --regid 1000 --clear-groups)

# expect_limit COMMAND…: the card's memory in its output is the limit.
expect_limit() {
    "$@" >"$scratch/info" 2>"$scratch/info.err" || fail "$*: $(cat "$scratch/info.err")"
    expect_equal "totals" "$(grep -oE '^device\.0\.[a-z0-9_]*total(_mem)? .*' "$scratch/info" | sed 's/.* //' | sort -u)" \
        "$limit"
}
for who in root user; do
    as=()
    [[ $who == root ]] || as=("${user[@]}")
    expect_limit env LD_LIBRARY_PATH="$path" cgpuctl run --mem 2GiB -- "${as[@]}" env -u LD_LIBRARY_PATH info
    expect_limit env LD_LIBRARY_PATH="$path" cgpuctl run --mem 2GiB -- "${as[@]}" info
    expect_limit env LD_LIBRARY_PATH="$decoy" cgpuctl run --mem 2GiB -- "${as[@]}" info
    expect_limit env LD_LIBRARY_PATH="$path" cgpuctl run --mem 2GiB -- "${as[@]}" env "LD_LIBRARY_PATH=$decoy" info
    expect_limit env LD_LIBRARY_PATH="$path" cgpuctl run --mem 2GiB -- "${as[@]}" \
        env -u LD_LIBRARY_PATH "LD_PRELOAD=$decoy/libcuda.so.1" info
done

# Folders that can't all be covered: the job is refused.
mkdir "$scratch/many"
for ((i = 1; i <= 1100; i++)); do mkdir "$scratch/many/$i"; done
expect_error 'the loader is told of more than 1024 folders.* Try: ' \
    env LD_LIBRARY_PATH="$(many_folders "$scratch/many")" cgpuctl run --mem 2GiB -- info
expect none_listed
