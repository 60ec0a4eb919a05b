# What the environment of a job can have covered: files that bear a driver's name themselves and say that they are the driver's,
# and of these a user's own or the system's. Links with a driver's name to programs and libraries of the system cover none of
# them, in jobs of users (by the set-uid cgpu-enter) and of root; a driver that may not be covered is refused, or said.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/polkit_lib.sh"
limit=$((1 << 30))
libraries=/usr/lib/x86_64-linux-gnu
driver=$(readlink -f $libraries/libcuda.so.1)
names=(libcuda.so libcuda.so.1 libcuda.so.535.104.05 libnvidia-ml.so.1 libnvidia-opencl.so libnvidia-opencl.so.1)
chmod 755 "$scratch"
install -d -o $user "$scratch/x" "$scratch/own" "$scratch/bin"

# These aren't the node's own.
for folder in /opt /srv; do expect mount -n -t tmpfs -o mode=755 cgpu-test $folder; done

let_user_run

# covered WHO [VARIABLE…]: what the fronts and the empty file are mounted over in a job; in $said what cgpuctl says.
covered() {
    local as=()
    [[ $1 != user ]] || as=(as_user)
    "${as[@]}" env "${@:2}" cgpuctl run --mem 1GiB -- awk '$4 ~ "^/front/" { print $5 }' /proc/self/mountinfo 2>"$scratch/said" |
        sort
    [[ ${PIPESTATUS[0]} == 0 ]] || fail "the job failed: $(cat "$scratch/said")"
}
# limited WHO VARIABLE…: a job has its limit with these variables, at its start and inside.
limited() {
    local as=()
    [[ $1 != user ]] || as=(as_user)
    "${as[@]}" env "${@:2}" cgpuctl run --mem 1GiB -- info >"$scratch/info" 2>"$scratch/said" || fail "$*: $(cat "$scratch/said")"
    expect_equal "the card's size, $*" "$(grep -oE '^device\.0\.[a-z0-9_]*total(_mem)? .*' "$scratch/info" | sed 's/.* //' | sort -u)" $limit
}
plain=$(covered user)
expect_equal "what is covered for root" "$(covered root)" "$plain"
expect grep -qx "$driver" <<<"$plain"

echo "Links to what the system's rights depend on."
# As a library of PAM, of NOEXEC, or of the loader itself: it has no SONAME, or another one.
echo 'int checks(void) { return 1; }' >"$scratch/noexec.c"
expect gcc -shared -fPIC -o /usr/lib/noexec.so "$scratch/noexec.c"
expect gcc -shared -fPIC -Wl,-soname,liblimits.so.1 -o /usr/lib/liblimits.so.1 "$scratch/noexec.c"
expect install -m 4755 "$(command -v cmp)" /usr/bin/checker
targets=(/usr/lib/noexec.so /usr/lib/liblimits.so.1 /usr/bin/checker "$(readlink -f "$(command -v cmp)")" "$(readlink -f $libraries/libc.so.6)"
    "$(readlink -f /lib64/ld-linux-x86-64.so.2)" /etc/passwd /usr/lib/cgpu/cgpu-enter)
for target in "${targets[@]}"; do
    for name in "${names[@]}"; do as_user ln -sfn "$target" "$scratch/x/$name"; done
    expect_equal "covered by links to $target" "$(covered user "LD_LIBRARY_PATH=$scratch/x")" "$plain"
    expect_equal "covered for root by links to $target" "$(covered root "LD_LIBRARY_PATH=$scratch/x")" "$plain"
done
expect_error '' as_user env "LD_LIBRARY_PATH=$scratch/x" cgpuctl run --mem 1GiB -- checker -s /etc/passwd /etc/group
# By way of CONDA_PREFIX; a chain of links; a file of root's that bears the name and is no driver.
as_user mkdir -p "$scratch/x/cuda-compat" "$scratch/x/chain"
as_user ln -sfn /usr/bin/checker "$scratch/x/cuda-compat/libnvidia-opencl.so.1"
as_user ln -sfn "$scratch/x/libcuda.so.1" "$scratch/x/chain/libnvidia-opencl.so.1"
expect install -D -m 4755 /usr/bin/checker /srv/named/libnvidia-opencl.so.1
expect_equal "covered by CONDA_PREFIX" "$(covered user "CONDA_PREFIX=$scratch/x" "LD_LIBRARY_PATH=$scratch/x/chain:/srv/named")" "$plain"

echo "What is the driver's."
as_user cp "$driver" "$scratch/own/libcuda.so.1"
as_user cp "$driver" "$scratch/own/libnvidia-opencl.so.1"
expect_equal "covered of the user's own" "$(covered user "LD_LIBRARY_PATH=$scratch/own" | comm -13 <(echo "$plain") - | xargs)" \
    "$scratch/own/libcuda.so.1 $scratch/own/libnvidia-opencl.so.1"
limited user "LD_LIBRARY_PATH=$scratch/own"
limited root "LD_LIBRARY_PATH=$scratch/own"
# Bash runs an executable file without content as a script that succeeds.
as_user chmod 755 "$scratch/own/libnvidia-opencl.so.1"
expect_error 'Permission denied' as_user env "LD_LIBRARY_PATH=$scratch/own" cgpuctl run --mem 1GiB -- \
    bash -c "'$scratch/own/libnvidia-opencl.so.1'"
# Not the user's and not the system's: of root, of another user, by a link, by a hard link; and by another name.
expect install -D "$driver" /srv/roots/libcuda.so.1
expect install -D -o 1000 "$driver" /srv/others/libcuda.so.1
as_user mkdir "$scratch/x/link" "$scratch/x/hard" "$scratch/x/renamed"
as_user ln -s /srv/roots/libcuda.so.1 "$scratch/x/link/libnvidia-ml.so.1"
expect install "$driver" "$scratch/x/theirs" && expect ln "$scratch/x/theirs" "$scratch/x/hard/libcuda.so.1"
as_user cp "$driver" "$scratch/x/mine.bin" && as_user ln -s ../mine.bin "$scratch/x/renamed/libcuda.so.1"
for folder in /srv/roots /srv/others "$scratch/x/hard"; do
    expect_error "^\"$folder/libcuda.so.1\": LD_LIBRARY_PATH leads to this library of the NVIDIA driver.* Try: " \
        as_user env "LD_LIBRARY_PATH=$folder" cgpuctl run --mem 1GiB -- true
done
expect_error '^"/srv/roots/libcuda.so.1": ' as_user env "LD_LIBRARY_PATH=$scratch/x/link" cgpuctl run --mem 1GiB -- true
expect_error "^\"$scratch/x/renamed/libcuda.so.1\": it leads to \"$scratch/x/mine.bin\".* Try: " \
    as_user env "LD_LIBRARY_PATH=$scratch/x/renamed" cgpuctl run --mem 1GiB -- true
expect none_listed

echo "Folders of installations that a user can write to."
for folder in /opt/conda/cuda-compat /opt/conda/envs/a/cuda-compat /usr/local/cuda-9/compat /usr/local/cuda-9/compat/lib.real; do
    expect mkdir -p "$folder"
    ln -s "$(readlink -f "$(command -v jq)")" "$folder/libcuda.so.1"
    expect_equal "covered by a link in $folder" "$(covered root)" "$plain"
    rm "$folder/libcuda.so.1" && cp "$driver" "$folder/libcuda.so.1" || fail "no copy in $folder"
    expect_equal "covered in $folder" "$(covered user | comm -13 <(echo "$plain") -)" "$folder/libcuda.so.1"
    # Of the folder, or of one above it.
    for other in "$folder" "${folder%/*}"; do
        chown 1000 "$other"
        for who in root user; do
            expect_equal "covered for $who in $folder, which user 1000 can write to" "$(covered $who)" "$plain"
            expect has "$scratch/said" "^warning: \"$folder/libcuda.so.1\": this library of the NVIDIA driver isn't covered"
        done
        [[ $other != /opt/conda/cuda-compat ]] || cgpuctl doctor >"$scratch/doctor" 2>&1
        chown 0 "$other"
    done
    rm "$folder/libcuda.so.1"
done

expect has "$scratch/doctor" '"/opt/conda/cuda-compat/libcuda.so.1"'

echo "Other mounts that show the same files."
mkdir -p /srv/jail "/srv/a jail"
mount --bind $libraries /srv/jail && mount --bind /usr "/srv/a jail" && touch /srv/one.bin && mount --bind "$driver" /srv/one.bin ||
    fail "no mounts"
for who in root user; do
    as=()
    [[ $who != user ]] || as=(as_user)
    for variable in LD_LIBRARY_PATH=/srv/jail "LD_LIBRARY_PATH=/srv/a jail/lib/x86_64-linux-gnu" LD_PRELOAD=/srv/one.bin; do
        expect_equal "4000 MiB under 1 GiB, $who, $variable" \
            "$("${as[@]}" cgpuctl run --mem 1GiB -- env "$variable" alloc --mib 4000 | head -n 1)" "result 2 CUDA_ERROR_OUT_OF_MEMORY"
    done
done
limited user LD_LIBRARY_PATH=/srv/jail
wait_for 10 none_listed
