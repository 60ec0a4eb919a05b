#!/usr/bin/env bash
# clean-root.sh [--with FILE]… [SUITE [COMMAND…]]: runs COMMAND in a bare Debian of that suite, as root, in namespaces of its
# own with that Debian as their root. The working tree (a copy of what git tracks or would track) is there at the same path as
# here, and the command starts in it. --with adds one file of the working tree that git doesn't track. Default: bookworm,
# `./check --fast` and `./quickstart`. The bare root and downloaded packages are kept in build/roots. So is ccache's store;
# for the suite of this machine it is the machine's own store: the compiler is the same, and ccache uses an entry only if all
# headers of the bare root agree with it. Exit status 77: the root could not be made.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
tree=$PWD
with=()
while [[ ${1-} == --with ]]; do
    with+=("$2")
    shift 2
done
suite=${1:-bookworm}
shift $(($# ? 1 : 0))
(($#)) || set -- bash -c './check --fast && ./quickstart'
if ((EUID != 0)); then
    echo "making a root file system takes root"
    exit 77
fi

if ! command -v mmdebstrap >/dev/null; then
    echo "no bare root of $suite: mmdebstrap is not installed. Try: apt-get install mmdebstrap"
    exit 77
fi

kept=$tree/build/roots
ccache=$kept/ccache-$suite
if [[ $suite == $(. /etc/os-release && echo "${VERSION_CODENAME-}") ]]; then
    ccache=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}
fi
mkdir -p "$kept/archives-$suite" "$ccache" || exit
if [[ ! -e $kept/$suite.tar ]]; then
    if ! mmdebstrap --variant=minbase --format=tar "$suite" "$kept/$suite.tar.new"; then
        rm -f "$kept/$suite.tar.new"
        echo "no bare root of $suite: mmdebstrap failed, is the Debian archive within reach?"
        exit 77
    fi
    mv "$kept/$suite.tar.new" "$kept/$suite.tar" || exit
fi
work=$(mktemp -d "$kept/work.XXXXXX") || exit
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP
tar -C "$work" -xpf "$kept/$suite.tar" --exclude='./dev/*' || exit
cp -L /etc/resolv.conf "$work/etc/resolv.conf" || exit
# Nothing here outlives the run: no need to sync every file to disk.
echo force-unsafe-io >"$work/etc/dpkg/dpkg.cfg.d/unsafe-io" || exit
mkdir -p "$work$tree" || exit
if git rev-parse -q --verify HEAD >/dev/null; then
    # With its index: otherwise git would treat all files as new ones.
    git clone -q --no-hardlinks --no-checkout . "$work$tree" && git -C "$work$tree" read-tree HEAD
else
    git init -q "$work$tree"
fi || exit
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [[ -e $file || -L $file ]] && printf '%s\0' "$file"
done | tar --null --no-recursion -T - -cf - | tar -C "$work$tree" -xpf - || exit
for file in "${with[@]}"; do
    mkdir -p "$work$tree/$(dirname "$file")" && cp -p "$file" "$work$tree/$file" || exit
done

# pivot_root, not chroot: a process that enters a mount namespace made in there must arrive at this root.
# shellcheck disable=SC2016
setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child bash -c '
    root=$1 archives=$2 ccache=$3 tree=$4
    shift 4
    mount -n --bind "$root" "$root" && cd "$root" && mount -n -t proc proc proc && mount -n --rbind /sys sys &&
        mount -n --rbind /dev dev || exit 77
    # Unless the tree lies there.
    [[ $tree == /tmp/* ]] || mount -n -t tmpfs -o mode=1777 tmp tmp || exit 77
    [[ $tree == /run/* ]] || mount -n -t tmpfs -o mode=755 run run || exit 77
    mount -n --bind "$archives" var/cache/apt/archives && mkdir -p root/.cache/ccache &&
        mount -n --bind "$ccache" root/.cache/ccache && mkdir old-root && pivot_root . old-root && cd / &&
        umount -n -l /old-root && rmdir /old-root || exit 77
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        CI=true bash -c "cd \"\$1\" && shift && exec \"\$@\"" clean-root "$tree" "$@"
' clean-root "$work" "$kept/archives-$suite" "$ccache" "$tree" "$@" </dev/null &
wait $!
