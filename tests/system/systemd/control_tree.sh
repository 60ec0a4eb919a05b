# The package cgpu-fs under a booted systemd: the tree is there after the installation, for other processes too, and inside the
# limits of its unit it can be changed; it outlives restarts of cgpud and its own crash, and leaves nothing.
. "$(dirname "$0")/../lib.sh"
km=/run/cgpu/km
package=${CGPU_LAB_PACKAGE/\/cgpu_//cgpu-fs_}
of_unit() { systemctl show cgpu-fs --property "$1" --value; }
[[ -e /dev/fuse ]] || skip "this machine has no /dev/fuse"
is_mounted() { [[ -e $km/version ]]; }
is_not_mounted() { [[ ! -e $km ]]; }

expect dpkg -i "$package" >"$scratch/install.log" 2>&1
expect_equal "the service" "$(systemctl is-enabled cgpu-fs) $(systemctl is-active cgpu-fs)" 'enabled active'
wait_for 10 is_mounted
expect exposure cgpu-fs 60 >"$scratch/exposure"
tail -n 1 "$scratch/exposure"
expect bash -c "echo 2 >$km/0/policy"
expect_equal "the policy" "$(cgpuctl show 0 --json | jq -r .policy_name)" weighted
expect_equal "what a user reads" "$(setpriv --reuid nobody --clear-groups cat $km/0/policy)" 2
expect_error 'Invalid argument' bash -c "echo 9 >$km/0/policy"
expect_equal "the reason in the journal" "$(journalctl -q -o cat -u cgpu-fs | grep -c '^0/policy: .* Try: ')" 1

echo "A job sees nothing of it."
expect_equal "files of the tree in a job" "$(cgpuctl run --mem 1GiB -- sh -c "ls -d $km 2>/dev/null | wc -l")" 0

echo "Restarts."
expect systemctl restart cgpud
expect_equal "the policy after a restart of cgpud" "$(cat $km/0/policy)" 2
expect systemctl stop cgpud
expect_equal "the owner of /run/cgpu" "$(stat -c %U /run/cgpu)" cgpu
expect_equal "the policy, which starts cgpud" "$(cat $km/0/policy)" 2
expect kill -KILL "$(of_unit MainPID)"
wait_for 10 is_mounted
expect_equal "the policy after a crash" "$(cat $km/0/policy)" 2

expect dpkg -r cgpu-fs >"$scratch/remove.log" 2>&1
wait_for 10 is_not_mounted
