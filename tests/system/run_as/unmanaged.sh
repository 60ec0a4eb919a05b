# A job that declines management runs with its environment and without the module; so it does in a container.
. "$(dirname "$0")/../lib.sh"
chmod 755 "$scratch"
card=$((16130 * 1024 * 1024))

# expect_unmanaged COMMAND…: it prints what `info` does, for the whole card, and a warning.
expect_unmanaged() {
    "$@" >"$scratch/info" 2>"$scratch/err" || fail "$*: $(cat "$scratch/err")"
    expect_equal "total of $*" "$(fact "$scratch/info" device.0.total_mem)" "$card"
    expect has "$scratch/err" "the command isn't managed .*: it has no limit"
    expect none_listed
}

for declines in CGPU_DISABLE=1 CGPU_MEM=0 ALIYUN_COM_GPU_MEM_CONTAINER=1,0 ALIYUN_COM_GPU_MEM_CONTAINER=; do
    expect_unmanaged env "$declines" cgpuctl run -- info
done
expect_unmanaged cgpuctl run --mem 0 -- info
expect_unmanaged env CGPU_DISABLE=1 cgpuctl run --mem 4GiB -- info
expect_equal "its environment" "$(env CGPU_MEM=0 CUDA_VISIBLE_DEVICES=7 cgpuctl run -- sh -c 'echo $CGPU_MEM $CUDA_VISIBLE_DEVICES' 2>/dev/null)" \
    "0 7"
expect_equal "its mounts" "$(env CGPU_MEM=0 cgpuctl run -- readlink /proc/self/ns/mnt 2>/dev/null)" "$(readlink /proc/self/ns/mnt)"
expect_equal "its user" "$(env CGPU_MEM=0 SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody cgpuctl run -- id -un 2>/dev/null)" nobody
env CGPU_MEM=0 cgpuctl run -- sh -c 'exit 7' 2>/dev/null
expect_equal "exit status" $? 7
expect_error "isn't managed" env CGPU_MEM=0 cgpuctl run -- no-such-command
expect_equal "what a dry run runs" "$(env CGPU_MEM=0 cgpuctl run --dry-run -- echo here 2>/dev/null)" ""

echo "A user without rights, and without cgpud."
. "$CGPU_LAB/cgpud.sh"
stop_cgpud TERM
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env CGPU_DISABLE=1 cgpuctl run)
expect_equal "the user" "$("${nobody[@]}" -- id -u 2>/dev/null)" 65534
expect_error 'only root may run a command as another user' "${nobody[@]}" --user root -- id
expect_error 'nothing asks for GPU memory. Try: ' cgpuctl run -- info
