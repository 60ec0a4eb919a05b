# Sourced by the tests of decoys: one folder under many names.

# spelling NUMBER: /usr/bin, written in a way of this number's own.
spelling() {
    local bit text=/usr
    for ((bit = 0; bit < 11; bit++)); do
        (($1 >> bit & 1)) && text+=/. || text+=/
    done
    echo "$text/bin"
}

# decoy_path FOLDER: an LD_LIBRARY_PATH of this folder and 1100 spellings of another one.
decoy_path() {
    local i path=$1
    for ((i = 0; i < 1100; i++)); do path+=:$(spelling "$i"); done
    echo "$path"
}

# many_folders FOLDER: an LD_LIBRARY_PATH of 1100 folders in that one.
many_folders() {
    seq -f "$1/%g" -s : 1100
}
