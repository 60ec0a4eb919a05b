#!/usr/bin/env bash
# dnf.sh ROOT PACKAGE: Debian's dnf installs the .rpm from a signed repository (docs/install.md), with everything that it says it
# needs, into a root of its own (files of ROOT, changes in memory), and removes it. The needed packages are stand-ins: they have the names
# and versions of RHEL 9, and no files, because ROOT has these programs already. With those of RHEL 8 nothing is installed. Needs root.
. "$(dirname "${BASH_SOURCE[0]}")/own_root.sh"
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)

export GNUPGHOME=$work/gpg
mkdir -m 700 "$GNUPGHOME"
trap 'gpgconf --kill all' EXIT
gpg --batch --quiet --passphrase '' --quick-generate-key releases@cgpu.example rsa3072 sign 1d
"$tree/packaging/repository/add" "$work/published" --key releases@cgpu.example "$package" "${package/\/cgpu-//cgpu-fs-}"

# system NAME PACKAGE=VERSION…: the repository $work/NAME of packages without files.
system() {
    local name=$1 each
    shift
    mkdir "$work/$name"
    for each in "$@"; do
        cat >"$work/stand-in.spec" <<TEXT
Name: ${each%%=*}
Version: ${each#*=}
Release: 1.${name/rhel/el}
Summary: a stand-in
License: none
AutoReqProv: no
$([[ $each != bash=* ]] || echo 'Provides: /bin/sh')
$([[ $each != systemd=* ]] || echo 'Requires: systemd-libs = %{version}-%{release}')
%description
%files
TEXT
        rpmbuild --quiet -bb --target x86_64 --define "_topdir $work/rpmbuild" --define "_rpmdir $work/$name" "$work/stand-in.spec" >"$work/rpmbuild.log" 2>&1 ||
            { cat "$work/rpmbuild.log" && fail "the stand-in ${each%%=*} was not made"; }
    done
    createrepo_c --quiet "$work/$name"
}
system rhel8 glibc=2.28 systemd=239 systemd-libs=239 dbus=1.12.8 procps-ng=3.3.15 coreutils=8.30 grep=3.1 sed=4.5 bash=4.4.20
system rhel9 glibc=2.34 systemd=252 systemd-libs=252 dbus=1.12.20 procps-ng=3.3.17 coreutils=8.32 grep=3.6 sed=4.8 bash=5.1.8

# on SYSTEM COMMAND…: dnf with the repository of cgpu, as docs/install.md says it in other places, and with that of the system.
on() {
    local system=$1
    shift
    printf '%s\n' '[main]' "cachedir=$work/cache" "logdir=$work/log" "persistdir=$work/persist" "reposdir=$work/none" "pluginpath=$work/none" \
        "pluginconfpath=$work/none" '[system]' 'name=system' "baseurl=file://$work/$system" 'gpgcheck=0' >"$work/$system.conf"
    sed -n '/^\[cgpu\]$/,/^TEXT$/{/^TEXT/!p}' "$tree/docs/install.md" |
        sed "s|/etc/pki/rpm-gpg/cgpu.asc|$work/published/cgpu.asc|; s|/srv/cgpu|$work/published|" >>"$work/$system.conf"
    command dnf -y -c "$work/$system.conf" --installroot="$work/root" --releasever="${system#rhel}" --forcearch=x86_64 "$@" >"$work/said" 2>&1 </dev/null
}
shown() { cat "$work/said" && fail "$1"; }

! on rhel8 install cgpu || shown "it was installed for an older C library"
for what in 'glibc >= 2.31' 'systemd >= 247'; do
    grep -q "nothing provides $what needed by cgpu" "$work/said" || shown "dnf doesn't say that $what is missing"
done
! there usr/bin/cgpuctl || fail "it was installed for an older C library"

on rhel9 install cgpu-fs || shown "dnf installs nothing"
for each in cgpu cgpu-fs glibc systemd systemd-libs dbus procps-ng coreutils grep sed bash; do
    rpm -q "$each" >/dev/null || shown "$each was not installed"
done
# With what it needs, now.
rpm -V cgpu cgpu-fs || fail "what is installed is not what is in the packages, or something that they need is missing"
grep -q '^cgpu:' "$work/root/etc/passwd" || shown "the user was not made"
for unit in cgpud cgpu-fs; do
    there "etc/systemd/system/multi-user.target.wants/$unit.service" || shown "$unit is not enabled"
done
chroot "$work/root" cgpud --check
on rhel9 reinstall cgpu || shown "dnf doesn't install it again"
rpm -V cgpu || fail "what is installed again is not what is in the package"
on rhel9 remove cgpu || shown "dnf doesn't remove it"
for each in cgpu cgpu-fs; do
    ! rpm -q "$each" >/dev/null || shown "$each is left"
done
for left in usr/bin/cgpuctl usr/lib/cgpu usr/libexec/cgpu etc/systemd/system/multi-user.target.wants/cgpud.service; do
    ! there "$left" || fail "/$left is left"
done
echo "dnf holds: $(basename "$package"), with $(command dnf --version | head -n 1)"
