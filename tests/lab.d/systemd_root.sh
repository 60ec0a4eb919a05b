# The Debian of a node with systemd. Sourced by tests/lab.

# systemd_root ROOTS PACKAGE [SUITE]: prints the folder of a Debian of this suite, or the machine's, with systemd, polkit, Docker,
# Podman, and the dependencies of PACKAGE and of the package cgpu-fs beside it. Made once and kept in ROOTS; a node never writes to
# it.
systemd_root() {
    local roots=$1 package=$2 suite=${3-} deb wanted folder new made options=()
    [[ $suite ]] || suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # The first of alternatives, without versions, and no virtual names.
    wanted=$(
        for deb in "$package" "${package/\/cgpu_//cgpu-fs_}"; do
            dpkg-deb -f "$deb" Depends
        done | tr ',' '\n' | sed -E 's/\([^)]*\)//g; s/\|.*//; s/ //g; s/default-dbus-system-bus/dbus/; /^cgpu$/d' | sort -u | paste -sd ,
    )
    wanted=systemd-sysv,dbus,dbus-user-session,libpam-systemd,jq,polkitd,procps,docker.io,busybox-static,podman,crun,uidmap,rootlesskit,sudo,$wanted
    case $suite in
        bullseye) wanted=${wanted/polkitd/policykit-1} ;; # polkit 0.105
        bookworm) ;;
        *) wanted+=,docker-cli ;; # a package of its own from Debian 13 on
    esac
    folder=$roots/systemd-$suite-$(md5sum <<<"$wanted" | cut -c-8)
    exec {made}>"$roots/lock" && flock "$made" || return # of two labs that start at once, one makes it
    if [[ ! -d $folder ]]; then
        echo "lab: making a Debian $suite with systemd in $folder, once" >&2
        new=$(mktemp -d "$roots/new.XXXXXX") || return
        # The lists of testing are valid for a week, and a mirror may stand still for longer. They are signed all the same.
        [[ $suite != forky ]] || options=(--aptopt='Acquire::Check-Valid-Until "false"')
        if ! mmdebstrap --quiet "${options[@]}" --variant=minbase --include="$wanted" "$suite" "$new" >&2; then
            rm -rf --one-file-system "$new"
            echo "lab: mmdebstrap failed. Try: make the Debian archive reachable." >&2
            return 1
        fi
        chmod 755 "$new" && mv -T "$new" "$folder" || return
    fi
    exec {made}>&-
    echo "$folder"
}

# newest_package TREE: prints the path of the tree's package; builds it if there is none, or if it is older than its sources.
newest_package() {
    local version made package parts=(CMakeLists.txt cmake core daemon dbus client module units etc debian docs)
    version=$(sed -nE 's/^project\(cgpu VERSION ([0-9.]+).*/\1/p' "$1/CMakeLists.txt")
    package=$1/build/package/cgpu_${version}_$(dpkg --print-architecture).deb
    mkdir -p "$1/build" && exec {made}>"$1/build/package.lock" && flock "$made" || return # of two labs, one builds it
    if [[ ! -e $package || $(cd "$1" && find "${parts[@]}" -type f -newer "$package" -print -quit) ]]; then
        echo "lab: building $package first" >&2
        "$1/.ci/package" >&2 || return
    fi
    exec {made}>&-
    echo "$package"
}
