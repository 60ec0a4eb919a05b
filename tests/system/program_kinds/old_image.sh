# In a Debian 11 (glibc 2.31) the fronts and the engine load, and the limit holds. Driver and programs are linked for such a
# system; the node's own programs run with that driver, too.
. "$(dirname "$0")/lib.sh"
old=$(dirname "$kinds")/old
roots=$(cd "$(dirname "$0")/../../.." && pwd)/build/roots
suite=bullseye

# Made once and kept; nothing here writes to it.
if [[ ! -d $roots/old-$suite ]]; then
    command -v mmdebstrap >/dev/null || skip "a Debian $suite is made by mmdebstrap, which isn't installed"
    expect mkdir -p "$roots"
    new=$(mktemp -d "$roots/new.XXXXXX") || fail "no folder for a Debian $suite"
    if ! mmdebstrap --quiet --variant=minbase $suite "$new" >"$scratch/mmdebstrap.err" 2>&1; then
        rm -rf --one-file-system "$new"
        skip "no Debian $suite could be made, is the Debian archive within reach? $(tail -n 1 "$scratch/mmdebstrap.err")"
    fi
    expect chmod 755 "$new"
    expect mv -T "$new" "$roots/old-$suite"
fi
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
