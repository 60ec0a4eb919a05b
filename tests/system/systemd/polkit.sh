# Debian's polkit beside the package's service, which has a user of its own and so must own its actions to be answered about
# other users: polkit decides what users may do, and without it only root may change anything.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/polkit_lib.sh"

expect_equal "the service's user" "$(stat -c %U "/proc/$(systemctl show cgpud --property MainPID --value)")" cgpu
# It is started by whoever calls it.
wait_for 20 polkit_answers
what_polkit_decides

# Taken away: the refusal says so, and root goes on.
expect systemctl mask --now polkit.service
expect_error 'only root may where there is no polkit' as_user cgpuctl set-policy 0 fixed
expect cgpuctl set-policy 0 fixed -q
expect systemctl unmask polkit.service
allow org.cgpu1.manage-policy
wait_for 20 quietly as_user cgpuctl set-policy 0 soft
expect_equal "policy" "$(cgpuctl status --json | jq -r '.gpus[0].policy_name')" soft
