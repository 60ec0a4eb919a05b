# Twelve users with up to forty jobs on four GPUs, while reloads change the limits, and then also while cgpud is killed again and
# again. By the simulator's trace nobody ever has more than a rule allows, except those who were admitted under a former one, and
# `cgpuctl report --by user` agrees with the simulator's ledger (crowd.py, crowd_judge.py). CGPU_TEST_SCALE: part of ten minutes,
# default 0.1. CGPU_TEST_SEED: another run.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/polkit_lib.sh"
. "$here/crowd_lib.sh"
for group in students research guests night; do expect groupadd $group; done
while read -r user groups; do
    expect useradd --no-create-home --shell /bin/bash --gid "${groups%%,*}" --groups "$groups" "$user"
done < <(python3 "$here/crowd.py" users)
mkdir -p /etc/cgpu/cgpud.yaml.d
printf 'history_interval_s: 2\nno_weight: refuse\n' >/etc/cgpu/cgpud.yaml
crowd_node
expect python3 "$here/crowd.py" run "$scratch" "$(jq -n "600 * ${CGPU_TEST_SCALE:-0.1}")" "${CGPU_TEST_SEED:-1}"
wait_for 10 none_listed
wait_for 10 nothing_held
expect_equal "faults in the log" "$(lab-log | grep -ciE 'exception|the daemon failed')" 0
