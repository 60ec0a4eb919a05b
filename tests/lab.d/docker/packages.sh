# The container engine of the node: sourced by tests/lab, on the machine, and by init, in the node.
#
# It is never installed on the machine: it would conflict with another Docker, and its package starts a daemon. If dockerd,
# containerd or runc is missing, Debian's packages are downloaded (apt checks their signatures) and unpacked into the node's
# own /usr, which is removed with the node.

has_engine() {
    local program
    for program in docker dockerd containerd runc; do
        PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || return 1
    done
}

# download_engine FOLDER: the missing packages of the set `docker`, and their dependencies, once. If the machine has an engine
# in another form, only the other packages that the image consists of.
download_engine() {
    local missing wanted=() package
    [[ -e $1/complete ]] && return
    mkdir -p "$1/partial" || return
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

# unpack_engine FOLDER: in the node. Leaves out files outside the folders that are the node's own.
unpack_engine() {
    local package
    for package in "$1"/*.deb; do
        [[ -e $package ]] || continue
        # A program that the machine has stays as it is.
        dpkg --fsys-tarfile "$package" | tar -x -C / --keep-directory-symlink --skip-old-files \
            --wildcards './usr/*' './lib/*' './bin/*' './sbin/*' 2>>"$CGPU_LAB/docker.log"
        ((${PIPESTATUS[0]} == 0)) || return
    done
    /sbin/ldconfig
}
