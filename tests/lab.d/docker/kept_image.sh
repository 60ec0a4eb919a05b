# The image of the tests, made by the first lab of a build tree and kept in it, as the files that dockerd made of it. Sourced by init
# and init_systemd. Making it takes more than half of the time in which a lab with Docker starts.

# kept_image BUILD ROOT: prints the folder for the image of these test programs, and of the engine, busybox and C library below ROOT.
# Another of any of them, or another way to make the image, is another folder.
kept_image() {
    local programs root
    programs=$({
        find -L "$1/tests/programs" -maxdepth 1 -type f -printf '%f %s %T@\n' | sort
        cat "$(dirname "${BASH_SOURCE[0]}")/image.sh"
    } | md5sum | cut -c -12)
    root=$(find -H "$2"/usr/{bin,sbin,lib/"$(uname -m)-linux-gnu"} -maxdepth 1 \
        \( -name dockerd -o -name busybox -o -name libc.so.6 -o -name libstdc++.so.6 \) -printf '%f %l %s %T@\n' | sort | md5sum | cut -c -12)
    echo "$1/lab/image-$programs-$root"
}

# take_image FOLDER DATA_ROOT: before dockerd starts. Without an image in FOLDER it does nothing.
take_image() {
    [[ -d $1 ]] || return 0
    (
        flock -s 9 || exit
        [[ ! -d $1 ]] || cp -a "$1/." "$2/"
    ) 9>"${1%/*}/lock"
}

# keep_image FOLDER DATA_ROOT: where dockerd has the image. Those of other programs go.
keep_image() {
    [[ ! -d $1 ]] || return 0
    mkdir -p "${1%/*}" && (
        flock 9 || exit
        [[ ! -d $1 ]] || exit 0
        for other in "${1%/*}"/image-*; do
            [[ $other == "${1%-*}"-* ]] || rm -rf "$other"
        done
        rm -rf "$1.new" && mkdir "$1.new" && cp -a "$2/image" "$2/overlay2" "$1.new/" && mv -T "$1.new" "$1"
    ) 9>"${1%/*}/lock"
}
