#!/usr/bin/env bash
# rpm.sh ROOT PACKAGE: installs the .rpm by Debian's rpm in a root of its own (files of ROOT, changes in memory), with its scripts, and
# removes it. What it needs isn't looked for: that root has no database of rpm's. Needs root.
. "$(dirname "${BASH_SOURCE[0]}")/own_root.sh"
rpm --initdb
rpm --nodeps -i "$package"
rpm -V --nodeps cgpu || fail "what is installed is not what is in the package"
[[ $(stat -c '%a %U' "$work/root/usr/lib/cgpu/cgpu-enter") == '4755 root' ]] || fail "cgpu-enter may not enter"
grep -q '^cgpu:' "$work/root/etc/passwd" || fail "the user was not made"
there etc/systemd/system/multi-user.target.wants/cgpud.service || fail "cgpud is not enabled"
chroot "$work/root" cgpud --check
for program in cgpuctl cgpu-exporter cgpu-runtime; do chroot "$work/root" "$program" --version; done
# Put over itself, as an upgrade: the module that would go with the former version stays.
module=$work/root/usr/lib/cgpu/module
cp -a "$module"/*/ "$module/0.9.0"
rpm --nodeps -U --force "$package"
there usr/lib/cgpu/module/0.9.0 || fail "the former module is lost"
there usr/lib/cgpu/module-kept && fail "the modules that were put aside are left"
there etc/systemd/system/multi-user.target.wants/cgpud.service || fail "cgpud is not enabled any more"
rpm --nodeps -e cgpu
for left in usr/bin/cgpuctl usr/lib/cgpu usr/libexec/cgpu etc/systemd/system/multi-user.target.wants/cgpud.service; do
    there "$left" && fail "/$left is left"
done
echo "the .rpm holds: $(basename "$package")"
