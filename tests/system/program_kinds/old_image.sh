# old_image.sh LAB…: in a Debian 11 (glibc 2.31) the fronts and the engine load, and the limit holds. Driver and programs are linked
# for such a system; the node's own programs run with that driver, too.
here=$(cd "$(dirname "$0")" && pwd)
roots=$(cd "$here/../../.." && pwd)/build/roots
suite=bullseye
if [[ ${1-} != inside ]]; then
    # Made once and kept; nothing writes to it.
    if [[ ! -d $roots/old-$suite ]]; then
        command -v mmdebstrap >/dev/null || { echo "SKIP: a Debian $suite is made by mmdebstrap, which isn't installed" && exit 77; }
        mkdir -p "$roots" && new=$(mktemp -d "$roots/new.XXXXXX") || exit
        if ! mmdebstrap --quiet --variant=minbase $suite "$new"; then
            rm -rf --one-file-system "$new"
            echo "SKIP: no Debian $suite could be made, is the Debian archive within reach?"
            exit 77
        fi
        chmod 755 "$new" && mv -T "$new" "$roots/old-$suite" || exit
    fi
    exec "$@" --gpus V100:16130MiB -- bash "$0" inside
fi
shift
. "$here/lib.sh"
old=$(dirname "$kinds")/old
root=$CGPU_LAB/old-root libraries=/usr/lib/$(uname -m)-linux-gnu
mkdir -p "$CGPU_LAB"/old-layers/{upper,work} "$root"
expect mount -n -t overlay -o "lowerdir=$roots/old-$suite,upperdir=$CGPU_LAB/old-layers/upper,workdir=$CGPU_LAB/old-layers/work" old "$root"
for name in libcuda libnvidia-ml; do
    expect mount -n --bind "$old/$name.so.1" "$(readlink -f "$libraries/$name.so.1")"
    : >"$root$libraries/$name.so.1"
done
expect cp "$old"/{opened,nvml_too} "$root/usr/local/bin/"
: >"$root/dev/simgpu"
expect mount -n --bind /dev/simgpu "$root/dev/simgpu"
echo "$(chroot "$root" ldd --version | head -n 1), $(. "$root/etc/os-release" && echo "$PRETTY_NAME")"

# The root as a container has it: its /proc, the fronts in the driver's place, and what they need in /run/cgpu.
export libraries
in_old() {
    kind "$1" -- unshare --mount bash -c 'mount -n -t proc proc "$0/proc" && mkdir -p "$0/run/cgpu" &&
        mount -n --rbind /run/cgpu "$0/run/cgpu" && for name in libcuda.so.1 libnvidia-ml.so.1; do
            mount -n --bind "/run/cgpu/front/$name" "$0$libraries/$name" || exit
        done && exec chroot "$0" "$@"' "$root" "${@:2}"
}
learn_context_cost
expect ldconfig -r "$root"
for how in local global deepbind namespace; do
    in_old "old: open, $how" opened libcuda.so.1 $how
done
in_old 'old: NVML before CUDA' nvml_too first
in_old 'old: CUDA before NVML' nvml_too last
in_old 'old: cleared environment' env -i /usr/local/bin/opened
end_table
