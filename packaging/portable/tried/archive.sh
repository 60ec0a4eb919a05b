# The archive on a booted system: installed, used, installed again under a running job, refused while jobs run, removed without a trace.
. "$(dirname "$0")/../../../tests/system/lib.sh"
version=$(dpkg-deb -f "$CGPU_LAB_PACKAGE" Version)
own=/usr/lib/cgpu/archive
tar -C "$scratch" -xzf "${CGPU_LAB_PACKAGE%/*}/cgpu-$version-x86_64.tar.gz" || fail "there is no archive beside the package"
# As a user's umask and ownership would leave it.
chmod -R go-rwx "$scratch/cgpu-$version" && chown -R nobody "$scratch/cgpu-$version"
active() { [[ $(systemctl is-active cgpud) == active ]]; }

expect_error 'not removed: it isn.t installed by this archive. Try: ' "$scratch/cgpu-$version/uninstall"
find / -xdev -path /proc -prune -o -path /var/log -prune -o -path /run -prune -o -path "$scratch" -prune -o -name '*cgpu*' -print | sort >"$scratch/before"
expect "$scratch/cgpu-$version/install" >"$scratch/install.log" 2>&1
wait_for 20 active
expect_equal "version" "$(cgpuctl status --json | jq -r .version)" "$version"
expect_equal "who may enter" "$(stat -c '%a %U' /usr/lib/cgpu/cgpu-enter)" '4755 root'
expect_equal "owners" "$(find /usr/lib/cgpu /usr/bin/cgpuctl /usr/sbin/cgpud ! -user root -print -quit)" ''
expect setpriv --reuid=65534 --clear-groups cgpuctl list
expect cgpuctl module verify "$version" >/dev/null
asks=(CGPU_MEM=1GiB)
job held -- alloc --mib 100 --hold
wait_for 20 is_ready held
jobs=$(cgpuctl list -q)

# Again, under the job: as an upgrade.
touch /usr/share/cgpu/of-the-former-version && echo "644 usr/share/cgpu/of-the-former-version" >>$own/list
before=$(systemctl show cgpud --property MainPID --value)
expect "$scratch/cgpu-$version/install" >"$scratch/again.log" 2>&1
wait_for 20 active
expect_equal "jobs" "$(cgpuctl list -q)" "$jobs"
[[ $(systemctl show cgpud --property MainPID --value) != "$before" ]] || fail "cgpud was not started again"
expect test ! -e /usr/share/cgpu/of-the-former-version
expect_error 'not removed: jobs still run' $own/uninstall
expect active
end_job held
wait_for 10 none_listed

expect $own/uninstall --purge >"$scratch/remove.log" 2>&1
find / -xdev -path /proc -prune -o -path /var/log -prune -o -path /run -prune -o -path "$scratch" -prune -o -name '*cgpu*' -print | sort >"$scratch/after"
expect diff "$scratch/before" "$scratch/after"
expect_equal "its service" "$(systemctl is-active cgpud)" inactive

# The package and the archive exclude each other.
expect dpkg -i "$CGPU_LAB_PACKAGE" >"$scratch/package.log" 2>&1
expect_error 'dpkg has installed the package cgpu here. Nothing was changed. Try: ' "$scratch/cgpu-$version/install"
echo "the archive of $version holds"
