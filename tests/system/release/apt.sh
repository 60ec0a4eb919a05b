# The repository for apt, with a client that has an apt and a root of its own: it installs, upgrades and downgrades, and believes nothing
# that the key hasn't signed, down to a byte.
. "$(dirname "$0")/lib.sh"
published=$scratch/published
published() { "$tree/packaging/repository/add" "$published" "$@"; }
add() { expect published --key "$fingerprint" "$@" >"$scratch/add.log"; }

# new_client: one that has never seen a repository.
new_client() {
    root=$scratch/root
    rm -rf "$root"
    mkdir -p "$root"/etc/apt/{apt.conf,sources.list,preferences}.d "$root"/var/lib/{dpkg,apt/lists/partial} "$root"/var/cache/apt/archives/partial \
        "$root/var/log/apt"
    : >"$root/var/lib/dpkg/status"
    # Read before all else, so that the machine's own configuration isn't.
    export APT_CONFIG=$scratch/apt.conf
    cat >"$APT_CONFIG" <<TEXT
Dir "$root";
Dir::State::status "$root/var/lib/dpkg/status";
DPkg::Options { "--root=$root"; };
APT::Sandbox::User "root";
APT::Architecture "amd64";
APT::Architectures "amd64";
TEXT
    cp "$published/cgpu.asc" "$scratch/believed.asc"
    # As README says it, in other places.
    sed -n "s/^echo '\(deb .*\)' >.*/\1/p" "$tree/README.md" |
        sed "s|/usr/share/keyrings/cgpu.asc|$scratch/believed.asc|; s|/srv/cgpu|$published|" >"$root/etc/apt/sources.list"
    expect grep -q "signed-by=$scratch" "$root/etc/apt/sources.list"
}
apt() { apt-get -q -y "$@" >"$scratch/apt.log" 2>&1 </dev/null || { cat "$scratch/apt.log" && return 1; }; }
has_version() { # VERSION
    expect_equal "the version that is installed" "$(dpkg-query --admindir "$root/var/lib/dpkg" -W -f '${Version} ${db:Status-Status}' cgpu)" "$1 installed"
    expect_equal "its file" "$(cat "$root/usr/share/cgpu/version")" "$1"
}
has_none() { expect test ! -e "$root/usr/share/cgpu"; }

make_key "Releases <releases@cgpu.example>"
for version in 1.0.0 1.0.1~rc1 1.1.0; do
    make_deb cgpu "$version"
done
add "$scratch/made/cgpu_1.0.0_amd64.deb"

echo "installed, and upgraded as releases appear"
new_client
expect apt update
expect apt install cgpu
has_version 1.0.0
for version in 1.0.1~rc1 1.1.0; do
    add "$scratch/made/cgpu_${version}_amd64.deb"
    expect apt update
    expect apt upgrade
    has_version "$version"
done
expect apt upgrade
has_version 1.1.0
expect apt install --allow-downgrades cgpu=1.0.0
has_version 1.0.0
# A newer one wins, in whichever order they were published.
make_deb cgpu 1.0.1
add "$scratch/made/cgpu_1.0.1_amd64.deb"
expect apt update
expect apt upgrade
has_version 1.1.0

echo "nothing that is not signed"
dist=$published/apt/dists/stable
keep() { cp -a "$published" "$scratch/kept"; }
restore() { rm -rf "$published" && mv "$scratch/kept" "$published"; }
keep
bytes=$(size_of "$dist/InRelease")
for part in 5 20 35 50 60 70 80 90; do
    position=$((bytes * part / 100))
    change_byte "$dist/InRelease" "$position"
    new_client
    expect_error '' apt update
    expect_error '' apt install cgpu
    has_none
    change_byte "$dist/InRelease" "$position"
done
new_client
expect apt update

# One that knows the repository keeps what it knows.
change_byte "$dist/InRelease" $((bytes / 3))
apt update >/dev/null
expect has "$scratch/apt.log" 'is not updated and the previous index files will be used|not signed|BADSIG|could not be verified|[Vv]erif'
restore && keep

change_byte "$dist/main/binary-amd64/Packages" 20
for each in "$dist"/main/binary-amd64/by-hash/SHA256/* "$dist/main/binary-amd64/Packages.gz"; do change_byte "$each" 20; done
new_client
expect_error 'Hash Sum mismatch|unexpected size|Failed to fetch' apt update
expect_error '' apt install cgpu
has_none
restore && keep

package=$published/apt/pool/cgpu_1.1.0_amd64.deb
change_byte "$package" $(($(size_of "$package") / 2))
new_client
expect apt update
expect_error 'Hash Sum mismatch' apt install cgpu
has_none
expect apt install cgpu=1.0.0
expect_error 'Hash Sum mismatch' apt upgrade
has_version 1.0.0
restore && keep

make_key "Another <another@cgpu.example>"
rm "$dist/Release.gpg"
gpg --batch --yes --local-user "$fingerprint" --clear-sign --output "$dist/InRelease" "$dist/Release"
new_client
expect_error 'NO_PUBKEY|not signed|[Mm]issing key' apt update
has_none
rm "$dist/InRelease"
expect_error 'is not signed|does not have a Release file' apt update
restore

echo "what add refuses"
expect_error 'which its nodes believe, and not with [0-9A-F]+\. Try: --key [0-9A-F]+' published --key "$fingerprint" "$scratch/made/cgpu_1.0.0_amd64.deb"
fingerprint=$(gpg --batch --with-colons --list-secret-keys releases@cgpu.example | awk -F: '$1 == "fpr" { print $10; exit }')
expect_error 'there is no key to sign with\. Try: --key' published "$scratch/made/cgpu_1.0.0_amd64.deb"
expect_error 'gpg has no secret key nobody' published --key nobody "$scratch/made/cgpu_1.0.0_amd64.deb"
expect gpg --batch --quiet --passphrase '' --quick-generate-key old@cgpu.example ed25519 sign seconds=1 2>"$scratch/gpg.log"
is_expired() { gpg --batch --with-colons --list-secret-keys old@cgpu.example | grep -q '^sec:e:'; }
wait_for 20 is_expired
expect_error "the key old@cgpu.example can't sign: it is expired" published --key old@cgpu.example "$scratch/made/cgpu_1.0.0_amd64.deb"
expect_error 'more than one secret key\. Try: the fingerprint of one' published --key cgpu.example "$scratch/made/cgpu_1.0.0_amd64.deb"
add "$scratch/made/cgpu_1.0.0_amd64.deb" # the same one
make_deb cgpu 1.0.0 another
expect_error 'cgpu_1\.0\.0_amd64\.deb is there with other contents.*Try: another version' published --key "$fingerprint" "$scratch/made/cgpu_1.0.0_amd64.deb"
# A key that only a file has.
gpg --batch --armor --export-secret-keys "$fingerprint" >"$scratch/secret.asc"
gpg --batch --armor --export "$fingerprint" >"$scratch/public.asc"
gpgconf --kill all
GNUPGHOME=$scratch/nowhere
mkdir -m 700 "$GNUPGHOME"
expect published --key "$scratch/secret.asc" "$scratch/made/cgpu_1.0.1_amd64.deb" >"$scratch/add.log"
expect_error 'has no secret key to sign with' published --key "$scratch/public.asc" "$scratch/made/cgpu_1.0.1_amd64.deb"
expect_equal "keys in the store of whoever signs" "$(gpg --batch --list-keys 2>/dev/null)" ''
new_client
expect apt update
expect apt install cgpu
has_version 1.1.0
echo "the repository for apt holds"
