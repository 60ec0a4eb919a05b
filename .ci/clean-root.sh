#!/usr/bin/env bash
# clean-root.sh [SUITE [COMMAND…]]: runs COMMAND in a copy of the working tree (what git tracks or would track) in a
# bare Debian of that suite, as root, in namespaces of its own with that Debian as their root.
# Default: bookworm, `./check --fast` and `./quickstart`; for trixie: the build and the unit tests.
# The bare root, downloaded packages and ccache's store are kept in build/roots. Exit status 77: the root could not be made.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
suite=${1:-bookworm}
shift $(($# ? 1 : 0))
if (($# == 0)); then
    case $suite in
        trixie) set -- bash -c '. cmake/bootstrap.sh && install_packages build && build_preset release &&
            ctest --test-dir build/release --output-on-failure --no-tests=error -L unit' ;;
        *) set -- bash -c './check --fast && ./quickstart' ;;
    esac
fi
if ((EUID != 0)); then
    echo "making a root file system takes root"
    exit 77
fi

if ! command -v mmdebstrap >/dev/null; then
    echo "no bare root of $suite: mmdebstrap is not installed. Try: apt-get install mmdebstrap"
    exit 77
fi

kept=$PWD/build/roots
mkdir -p "$kept/archives-$suite" "$kept/ccache-$suite" || exit
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
if git rev-parse -q --verify HEAD >/dev/null; then
    git clone -q --no-hardlinks --no-checkout . "$work/src"
else
    git init -q "$work/src"
fi || exit
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [[ -e $file || -L $file ]] && printf '%s\0' "$file"
done | tar --null --no-recursion -T - -cf - | tar -C "$work/src" -xpf - || exit

# pivot_root, not chroot: whoever enters a mount namespace made in there must come out at this root.
# shellcheck disable=SC2016
setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child bash -c '
    root=$1 archives=$2 ccache=$3
    shift 3
    mount -n --bind "$root" "$root" && cd "$root" && mount -n -t proc proc proc && mount -n --rbind /sys sys &&
        mount -n --rbind /dev dev && mount -n -t tmpfs -o mode=1777 tmp tmp && mount -n -t tmpfs -o mode=755 run run &&
        mount -n --bind "$archives" var/cache/apt/archives && mkdir -p root/.cache/ccache &&
        mount -n --bind "$ccache" root/.cache/ccache && mkdir old-root && pivot_root . old-root && cd / &&
        umount -n -l /old-root && rmdir /old-root || exit 77
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        CI=true bash -c "cd /src && \"\$@\"" clean-root "$@"
' clean-root "$work" "$kept/archives-$suite" "$kept/ccache-$suite" "$@" </dev/null &
wait $!
