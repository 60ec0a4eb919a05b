# The container engine of the node: sourced by tests/lab, on the machine, and by init, in the node.
#
# It is never installed on the machine: it would conflict with another Docker, and its package starts a daemon. If dockerd,
# containerd or runc is missing, Debian's packages are downloaded (apt checks their signatures) and unpacked once into a folder,
# whose files are below the machine's own in the node's /usr.

has_engine() {
    local program
    for program in docker dockerd containerd runc; do
        PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || return 1
    done
}

# download_engine FOLDER: the missing packages of the set `docker`, and their dependencies, once, and their files in FOLDER/root.
# If the machine has an engine in another form, only the other packages that the image consists of. Of labs that start at once, one
# does it.
download_engine() {
    mkdir -p "$1/partial" || return
    (
        flock 9 && download_packages "$1" || exit
        [[ -d $1/root ]] || { rm -rf "$1/new" && unpack_packages "$1" "$1/new" && mv -T "$1/new" "$1/root"; }
    ) 9>"$1/lab.lock"
}

download_packages() {
    local missing wanted=() package
    [[ -e $1/complete ]] && return
    mapfile -t missing < <(missing_packages docker)
    for package in "${missing[@]}"; do
        has_engine && [[ $package != busybox* ]] && continue
        # docker-cli is a package of its own from Debian 13 on.
        [[ -n $(apt-cache madison "$package" 2>/dev/null) ]] && wanted+=("$package")
    done
    ((${#wanted[@]})) || { : >"$1/complete" && return; }
    echo "Downloading for the node: ${wanted[*]}" >&2
    local apt=(apt-get -q -y -o DPkg::Lock::Timeout=300 -o "Dir::Cache::archives=$1/")
    local download=("${apt[@]}" install --download-only --no-install-recommends "${wanted[@]}")
    # A fresh machine has no lists yet, an old one may have stale ones.
    "${download[@]}" </dev/null >&2 || { "${apt[@]}" update && "${download[@]}"; } </dev/null >&2 || return
    : >"$1/complete"
}

# unpack_packages FOLDER ROOT: the programs and libraries of the packages in FOLDER. Files in ROOT stay as they are.
unpack_packages() {
    local package name
    for name in bin sbin lib; do # as where / and /usr are merged
        mkdir -p "$2/usr/$name" && { [[ -e $2/$name ]] || ln -s "usr/$name" "$2/$name"; } || return
    done
    for package in "$1"/*.deb; do
        [[ -e $package ]] || continue
        dpkg --fsys-tarfile "$package" | tar -x -C "$2" --keep-directory-symlink --skip-old-files \
            --wildcards './usr/*' './lib/*' './bin/*' './sbin/*' 2>"$1/unpacked.log"
        ((${PIPESTATUS[0]} == 0)) || return
    done
}
