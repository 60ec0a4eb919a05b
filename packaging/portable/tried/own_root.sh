# Sourced by rpm.sh and dnf.sh, with their arguments ROOT PACKAGE: $work/root is a root with the files of ROOT, whose changes are in
# memory, with mounts and processes of its own: jobs in a lab would keep the package from being removed. Needs root.
set -euo pipefail
root=$(readlink -f "$1") package=$(readlink -f "$2")
if [[ ${3-} != inside ]]; then
    exec unshare --mount --pid --fork --kill-child --propagation private bash "$0" "$root" "$package" inside
fi
fail() {
    echo "${0##*/}: $1" >&2
    exit 1
}
work=$(mktemp -d)
mount -t tmpfs own_root "$work"
mkdir "$work"/{upper,work,root}
mount -t overlay -o "lowerdir=$root,upperdir=$work/upper,workdir=$work/work" own_root "$work/root"
mount -t proc proc "$work/root/proc"
rpm() { command rpm --root "$work/root" "$@"; }
there() { [[ -e $work/root/$1 || -L $work/root/$1 ]]; }
