# The driver is covered in whatever folder it is, however many folders a job's environment names before it.
. "$(dirname "$0")/../lib.sh"
limit=$((2 << 30))

# What looks like a driver, in the folder that comes first.
decoy=$scratch/decoy
mkdir "$decoy" && cp -L /usr/lib/x86_64-linux-gnu/libcuda.so.1 "$decoy/libcuda.so.1"

# spelling NUMBER: /usr/bin, in a spelling of this number.
spelling() {
    local bit text=/usr
    for ((bit = 0; bit < 11; bit++)); do
        (($1 >> bit & 1)) && text+=/. || text+=/
    done
    echo "$text/bin"
}
path=$decoy
for ((i = 0; i < 1100; i++)); do path+=:$(spelling "$i"); done

# expect_limit COMMAND…: the card's memory in its output is the limit.
expect_limit() {
    "$@" >"$scratch/info" 2>"$scratch/info.err" || fail "$*: $(cat "$scratch/info.err")"
    expect_equal "totals" "$(grep -oE '^device\.0\.[a-z0-9_]*total(_mem)? .*' "$scratch/info" | sed 's/.* //' | sort -u)" \
        "$limit"
}
expect_limit env LD_LIBRARY_PATH="$path" cgpuctl run --mem 2GiB -- env -u LD_LIBRARY_PATH info
expect_limit env LD_LIBRARY_PATH="$path" cgpuctl run --mem 2GiB -- info
expect_limit env LD_LIBRARY_PATH="$decoy" cgpuctl run --mem 2GiB -- info

# Folders that can't all be covered: the job is refused.
path=''
for ((i = 0; i < 1100; i++)); do mkdir -p "$scratch/many/$i" && path+=$scratch/many/$i:; done
expect_error 'the loader is told of more than 1024 folders.* Try: ' env LD_LIBRARY_PATH="$path" cgpuctl run --mem 2GiB -- info
expect none_listed
