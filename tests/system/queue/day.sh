#!/usr/bin/env bash
# A day of a lab, in ten minutes: twelve users with notebooks, batch jobs with and without time limits, and one who floods the queue,
# on four GPUs, while cgpud is killed, limits are reloaded, a GPU is lost and comes back, and the clock jumps by an hour. By the
# simulator's trace nobody has more than a rule allows; nobody passes those who asked before without a proof; no GPU stays idle while
# the first of the queue may start; the events say of each how its wait ended (day.py, day_judge.py). CGPU_TEST_SCALE: part of ten
# minutes, default 0.1. CGPU_TEST_SEED: another day.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/polkit_lib.sh"
. "$here/../owners/crowd_lib.sh"
for name in $(python3 "$here/day.py" users); do expect useradd --no-create-home --shell /bin/bash "$name"; done
mkdir -p /etc/cgpu/cgpud.yaml.d
printf 'no_weight: refuse\ntime_grace: 1s\nends_soon: 0s\nlog_level: debug\n' >/etc/cgpu/cgpud.yaml
crowd_node --inh-caps=+kill --ambient-caps=+kill
expect python3 "$here/day.py" run "$scratch" "$(jq -n "600 * ${CGPU_TEST_SCALE:-0.1}")" "${CGPU_TEST_SEED:-1}"
wait_for 20 none_listed
wait_for 10 nothing_held
expect_equal "records of the queue" "$(ls /run/cgpu/queued)" ""
expect_equal "faults in the log" "$(lab-log | grep -ciE 'exception|the daemon failed')" 0
