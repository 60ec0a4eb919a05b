#!/usr/bin/env bash
# sysroot.sh FOLDER: makes FOLDER/sysroot of Debian 11's packages (glibc 2.31, libsystemd 247) and a few headers of Debian 12, as
# parts.txt lists them. Needs apt and the archive, and neither root nor a foreign architecture. Kept until the list changes.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
folder=$(mkdir -p "$1" && cd "$1" && pwd)
made=$folder/sysroot
wanted=$({ parts old && parts headers && cat "${BASH_SOURCE[0]}"; } | sha256sum)
[[ ! -e $made/made-of || $(<"$made/made-of") != "$wanted" ]] || exit 0

private_apt "$folder/apt"
mkdir -p "$folder/debs"
cd "$folder/debs"
mapfile -t names < <({ parts old && parts headers; } | sed -E 's/^\S+ (\S+) (\S+)$/\1=\2/')
# apt verifies each file by the sums that the signed release names, also one that is already there.
apt-get "${apt[@]}" download "${names[@]}" || not_in_archive "package of the list"

new=$folder/sysroot.new
rm -rf "$new" "$made"
mkdir "$new"
# Debian 11 has /lib beside /usr/lib in its packages, and on its systems one is a link to the other.
mkdir -p "$new/usr/lib" "$new/usr/lib64"
ln -s usr/lib "$new/lib"
ln -s usr/lib64 "$new/lib64"
for name in "${names[@]}"; do
    version=${name#*=}
    deb=("${name%%=*}_${version//:/%3a}"_*.deb)
    dpkg-deb --fsys-tarfile "${deb[0]}" | tar -C "$new" --keep-directory-symlink -xf -
done
# Links that name a path from / would lead to the machine's own files.
find "$new" -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
    ln -sfnr "$new$target" "$link"
done
# Their static libraries are meant.
rm -f "$new/usr/lib/x86_64-linux-gnu"/lib{ncursesw,ncurses,tinfo,tic,acl,attr,md,fuse3,expat}.so
echo "$wanted" >"$new/made-of"
mv "$new" "$made"
echo "portable: $made is of ${#names[@]} packages" >&2
