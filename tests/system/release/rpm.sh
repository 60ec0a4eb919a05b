# The repository for rpm, with a dnf that has a root of its own: it installs, upgrades and downgrades, and believes nothing that the key
# hasn't signed. And versions sort in the same way for both kinds of packages.
. "$(dirname "$0")/lib.sh"
published=$scratch/published
add() { expect "$tree/packaging/repository/add" "$published" --key "$fingerprint" "$@" >"$scratch/add.log"; }

new_client() {
    root=$scratch/root
    rm -rf "$root"
    mkdir -p "$root"
    cp "$published/cgpu.asc" "$scratch/believed.asc"
    cat >"$scratch/dnf.conf" <<TEXT
[main]
cachedir=$root/var/cache/dnf
logdir=$root/var/log
persistdir=$root/var/lib/dnf
reposdir=$root/none
pluginpath=$root/none
pluginconfpath=$root/none
metadata_expire=0
TEXT
    # As docs/install.md says it, in other places.
    sed -n '/^\[cgpu\]$/,/^TEXT$/{/^TEXT/!p}' "$tree/docs/install.md" |
        sed "s|/etc/pki/rpm-gpg/cgpu.asc|$scratch/believed.asc|; s|/srv/cgpu|$published|" >>"$scratch/dnf.conf"
    expect grep -q '^repo_gpgcheck=1$' "$scratch/dnf.conf"
}
dnf() {
    command dnf -q -y -c "$scratch/dnf.conf" --installroot="$root" --releasever=1 --forcearch=x86_64 --setopt=install_weak_deps=0 \
        "$@" >"$scratch/dnf.log" 2>&1 </dev/null || { cat "$scratch/dnf.log" && return 1; }
}
has_version() { # VERSION
    expect_equal "the version that is installed" "$(rpm --root "$root" -q --qf '%{VERSION}' cgpu)" "$1"
    expect_equal "its file" "$(cat "$root/usr/share/cgpu/version")" "$1"
}
has_none() { expect test ! -e "$root/usr/share/cgpu"; }

echo "versions sort in the order of releases"
order=(1.0.0~rc1 1.0.0 1.0.1~rc1 1.0.1~rc2 1.0.1 1.0.2 1.0.10 1.1.0 1.10.0 2.0.0)
for ((i = 1; i < ${#order[@]}; i++)); do
    older=${order[i - 1]} newer=${order[i]}
    expect dpkg --compare-versions "$older" lt "$newer"
    expect_equal "rpm's order of $older and $newer" "$(rpm --eval "%{lua:print(rpm.vercmp('$older', '$newer'))}")" -1
done

echo "installed, and upgraded as releases appear"
make_key "Releases <releases@cgpu.example>"
for version in 1.0.0 1.0.1~rc1 1.1.0; do
    make_rpm cgpu "$version"
done
unsigned=$(sha256sum <"$scratch/made/cgpu-1.0.0-1.x86_64.rpm")
add "$scratch/made/cgpu-1.0.0-1.x86_64.rpm"
expect_equal "the package that was given" "$(sha256sum <"$scratch/made/cgpu-1.0.0-1.x86_64.rpm")" "$unsigned"
new_client
expect dnf install cgpu
has_version 1.0.0
for version in 1.0.1~rc1 1.1.0; do
    add "$scratch/made/cgpu-$version-1.x86_64.rpm"
    expect dnf upgrade
    has_version "$version"
done
expect dnf downgrade cgpu-1.0.0
has_version 1.0.0

echo "nothing that is not signed"
packages=$published/rpm
keep() { cp -a "$published" "$scratch/kept"; }
restore() { rm -rf "$published" && mv "$scratch/kept" "$published"; }
keep
change_byte "$packages/repodata/repomd.xml" $(($(size_of "$packages/repodata/repomd.xml") / 2))
new_client
expect_error 'repomd\.xml|GPG|signature' dnf install cgpu
has_none
restore && keep
for each in "$packages"/repodata/*primary.xml.gz; do change_byte "$each" $(($(size_of "$each") / 2)); done
new_client
expect_error 'checksum|Cannot download|mismatch' dnf install cgpu
has_none
restore && keep
package=$packages/cgpu-1.1.0-1.x86_64.rpm
change_byte "$package" $(($(size_of "$package") - 20))
new_client
expect_error 'checksum|Cannot download|mismatch|interrupted' dnf install cgpu
has_none
restore && keep
# The list is signed, and the package by nobody.
cp "$scratch/made/cgpu-1.1.0-1.x86_64.rpm" "$package"
(cd "$packages" && createrepo_c --quiet . && gpg --batch --yes --armor --local-user "$fingerprint" --detach-sign repodata/repomd.xml)
new_client
expect_error 'not signed' dnf install cgpu
has_none
restore && keep
make_key "Another <another@cgpu.example>"
(cd "$packages" && gpg --batch --yes --armor --local-user "$fingerprint" --detach-sign repodata/repomd.xml)
new_client
expect_error 'repomd\.xml|GPG|signature' dnf install cgpu
has_none
restore

# The same again is no change, although its signature has another time.
fingerprint=$(gpg --batch --with-colons --list-secret-keys releases@cgpu.example | awk -F: '$1 == "fpr" { print $10; exit }')
before=$(sha256sum <"$package")
add "$scratch/made/cgpu-1.1.0-1.x86_64.rpm"
expect_equal "the package that was there" "$(sha256sum <"$package")" "$before"
make_rpm cgpu 1.1.0 another
expect_error 'cgpu-1\.1\.0-1\.x86_64\.rpm is there with other contents' "$tree/packaging/repository/add" "$published" --key "$fingerprint" "$scratch/made/cgpu-1.1.0-1.x86_64.rpm"
echo "the repository for rpm holds"
