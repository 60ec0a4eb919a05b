# The node's own file systems. Sourced by init, in the node's mount namespace.
#
# Two ways, both in memory ($CGPU_LAB and other tmpfs), so that they also work where / is itself an overlay:
# - an overlay, for folders with the distribution's files, in which a package would install;
# - a farm, a tmpfs with each old entry bound into it, for folders with things of the machine that stay in use (sockets, data,
#   a user's working folder): only entries that the node adds are its own.
# mount -n: no entry in /run/mount/utab, which belongs to the machine. -c: the paths are taken as written.

# farm FOLDER: see above. It is made beside the folder and moved there as a whole: its sources may themselves be below the
# folder.
farm() {
    local folder=$1 aside entry name hidden
    aside=$(mktemp -d) || return
    mount -n -t tmpfs -o "mode=$(stat -c %a "$folder")" cgpu-lab "$aside" || return
    hidden=$(shopt -p nullglob dotglob)
    shopt -s nullglob dotglob
    for entry in "$folder/"*; do
        name=${entry##*/}
        if [[ -L $entry ]]; then
            cp -P "$entry" "$aside/$name" || return
        elif [[ -d $entry ]]; then
            mkdir "$aside/$name" && mount -n -c --rbind "$entry" "$aside/$name" || return
        else
            : >"$aside/$name" && mount -n -c --bind "$entry" "$aside/$name" || return
        fi
    done
    eval "$hidden"
    mount -n -c --move "$aside" "$folder" && rmdir "$aside"
}

farms=()

# own_folder FOLDER: an empty folder of the node's own at this path. Its parent exists.
own_folder() {
    local parent=${1%/*}
    if [[ ! -d $1 ]]; then
        if [[ " ${farms[*]} " != *" $parent "* ]]; then
            farm "$parent" || return
            farms+=("$parent")
        fi
        mkdir "$1" || return
    fi
    mount -n -t tmpfs -o mode=755 cgpu-lab "$1"
}

# overlay FOLDER [ROOT]: files written there stay in the node. Mounts below it stay visible. What ROOT has in this folder is added
# where the machine has nothing of that name.
overlay() {
    local folder=$1 lower=$1 layers=$CGPU_LAB/overlays$1 old mount
    [[ ! ${2-} || ! -d $2$folder ]] || lower+=:$2$folder
    local -A below=()
    while read -r _ _ _ _ mount _; do
        [[ $mount == "$folder"/* ]] || continue
        mount=${mount#"$folder"/}
        # The deeper ones come with the outermost.
        [[ -v below[${mount%%/*}] ]] || below[$mount]=1
    done </proc/self/mountinfo
    exec {old}<"$folder" || return
    mkdir -p "$layers/upper" "$layers/work" || return
    mount -n -t overlay -o "lowerdir=$lower,upperdir=$layers/upper,workdir=$layers/work" cgpu-lab "$folder" || {
        echo "lab: no overlay over $folder. Try: use a place where / is not already an overlay of an overlay." >&2
        return 1
    }
    for mount in "${!below[@]}"; do
        mount -n -c --rbind "/proc/self/fd/$old/$mount" "$folder/$mount" || return
    done
    exec {old}<&-
}
