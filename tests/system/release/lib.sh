# Sourced by the tests of releases: small packages of any version, a key, and a byte that changes.
. "$(dirname "$0")/../lib.sh"
tree=$(cd "$(dirname "$0")/../../.." && pwd)
((EUID == 0)) || skip "packages are installed as root"
export GNUPGHOME=$scratch/gpg
mkdir -m 700 "$GNUPGHOME"
echo 'trust-model always' >"$GNUPGHOME/gpg.conf"
trap 'status=$?; gpgconf --kill all; finish $status' EXIT

# make_key NAME: a key that may sign, for as long as the test lasts; its fingerprint is in $fingerprint.
make_key() {
    expect gpg --batch --quiet --passphrase '' --quick-generate-key "$1" rsa3072 sign 1d 2>"$scratch/gpg.log"
    fingerprint=$(gpg --batch --with-colons --list-secret-keys "$1" | awk -F: '$1 == "fpr" { print $10; exit }')
}

# make_deb NAME VERSION [CONTENT]: $scratch/made/NAME_VERSION_amd64.deb, with a file that says the version, and what is inside.
make_deb() {
    local root=$scratch/deb docs=usr/share/doc/cgpu
    rm -rf "$root"
    mkdir -p "$root/DEBIAN" "$root/$docs" "$root/usr/share/$1" "$scratch/made"
    printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: nobody <nobody@cgpu.example>\nDescription: a test\n' \
        "$1" "$2" >"$root/DEBIAN/control"
    echo "${3-$2}" >"$root/usr/share/$1/version"
    [[ $1 != cgpu ]] || echo "{\"version\": \"$2\"}" >"$root/$docs/components.spdx.json"
    expect dpkg-deb --root-owner-group -b "$root" "$scratch/made/$1_$2_amd64.deb" >/dev/null
}

# make_rpm NAME VERSION [CONTENT]: $scratch/made/NAME-VERSION-1.x86_64.rpm, likewise.
make_rpm() {
    mkdir -p "$scratch/made"
    cat >"$scratch/$1.spec" <<TEXT
Name: $1
Version: $2
Release: 1
Summary: a test
License: none
AutoReqProv: no
%description
%install
mkdir -p %{buildroot}/usr/share/$1
echo "${3-$2}" >%{buildroot}/usr/share/$1/version
%files
/usr/share/$1/version
TEXT
    expect rpmbuild --quiet -bb --target x86_64 --define "_topdir $scratch/rpmbuild" --define "_rpmdir $scratch/made" \
        --define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' "$scratch/$1.spec" >"$scratch/rpmbuild.log" 2>&1
}

# change_byte FILE POSITION: another one is there.
change_byte() {
    local byte
    byte=$(od -An -t u1 -j "$2" -N 1 "$1")
    printf '%b' "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

size_of() { stat -c %s "$1"; }
