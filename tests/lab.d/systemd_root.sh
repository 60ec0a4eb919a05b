# The Debian of a node with systemd. Sourced by tests/lab and init_systemd.

# systemd_root ROOTS PACKAGE: prints the folder of a Debian of this machine's suite with systemd, polkit, Docker, Podman, and
# the dependencies of PACKAGE and of the package cgpu-fs beside it. Made once and kept in ROOTS; a node never writes to it.
systemd_root() {
    local roots=$1 package=$2 suite deb wanted folder new
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # The first of alternatives, without versions, and no virtual names.
    wanted=$(
        for deb in "$package" "${package/\/cgpu_//cgpu-fs_}"; do
            dpkg-deb -f "$deb" Depends
        done | tr ',' '\n' | sed -E 's/\([^)]*\)//g; s/\|.*//; s/ //g; s/default-dbus-system-bus/dbus/; /^cgpu$/d' | sort -u | paste -sd ,
    )
    wanted=systemd-sysv,dbus,dbus-user-session,libpam-systemd,jq,polkitd,procps,docker.io,busybox-static,podman,crun,uidmap,rootlesskit,$wanted
    # A package of its own from Debian 13 on.
    [[ -z $(apt-cache madison docker-cli 2>/dev/null) ]] || wanted+=,docker-cli
    folder=$roots/systemd-$suite-$(md5sum <<<"$wanted" | cut -c-8)
    if [[ ! -d $folder ]]; then
        echo "lab: making a Debian $suite with systemd in $folder, once" >&2
        new=$(mktemp -d "$roots/new.XXXXXX") || return
        if ! mmdebstrap --quiet --variant=minbase --include="$wanted" "$suite" "$new" >&2; then
            rm -rf --one-file-system "$new"
            echo "lab: mmdebstrap failed. Try: make the Debian archive reachable." >&2
            return 1
        fi
        chmod 755 "$new" && mv -T "$new" "$folder" || return
    fi
    echo "$folder"
}

# newest_package TREE: prints the path of the tree's package; builds it if there is none, or if it is older than its sources.
newest_package() {
    local version package parts=(CMakeLists.txt cmake core daemon dbus client module units etc debian docs)
    version=$(sed -nE 's/^project\(cgpu VERSION ([0-9.]+).*/\1/p' "$1/CMakeLists.txt")
    package=$1/build/package/cgpu_${version}_$(dpkg --print-architecture).deb
    if [[ ! -e $package || $(cd "$1" && find "${parts[@]}" -type f -newer "$package" -print -quit) ]]; then
        echo "lab: building $package first" >&2
        "$1/.ci/package" >&2 || return
    fi
    echo "$package"
}

# remove_groups CGROUP: the control groups of a node that has ended, and of nodes whose lab was killed.
remove_groups() {
    local group name
    for group in /sys/fs/cgroup/*/"$1" /sys/fs/cgroup/"$1" /sys/fs/cgroup/*/cgpu-lab-* /sys/fs/cgroup/cgpu-lab-*; do
        name=${group##*/}
        [[ -d $group && ($name == "$1" || ! -d /proc/${name#cgpu-lab-}) ]] || continue
        find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
    done
}
