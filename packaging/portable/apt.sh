# Debian's archive of several suites, without a change to the machine's own apt. Sourced by sysroot.sh and libraries.sh.

portable_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# parts KIND: the lines of the list that are of this kind: suite, package and version of each.
parts() {
    awk -v kind="$1" '$1 !~ /^#/ && $2 == kind { print $1, $3, $4 }' "$portable_here/parts.txt"
}

# private_apt FOLDER: makes the array `apt` the options of apt-get with lists, a cache and sources of its own in FOLDER. It knows
# no installed package and believes only what Debian's keys have signed.
private_apt() {
    local folder=$1 suite
    mkdir -p "$folder/lists/partial" "$folder/archives/partial" && : >"$folder/status" || return
    for suite in bullseye bookworm trixie; do
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main"
        echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main"
    done >"$folder/sources.list"
    apt=(-q -o Dir::State="$folder" -o Dir::State::lists="$folder/lists" -o Dir::State::status="$folder/status"
        -o Dir::Cache="$folder" -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o Dir::Etc::main=/dev/null
        -o APT::Sandbox::User= -o APT::Architecture=amd64 -o APT::Architectures=amd64
        -o APT::Get::AllowUnauthenticated=false)
    [[ -e $folder/updated && $folder/updated -nt $portable_here/parts.txt ]] ||
        { apt-get "${apt[@]}" update && touch "$folder/updated"; } || return
}

# not_in_archive WHAT: what to do where a version of the list can't be had.
not_in_archive() {
    echo "portable: Debian's archive has no $1 any more, or it is out of reach: the message is above. Try: write its present" \
        "version into packaging/portable/parts.txt" >&2
    return 1
}
