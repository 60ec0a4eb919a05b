# The package's cgpu-exporter under a booted systemd: it isn't enabled, works inside its limits as a user of its own, and leaves a
# stopped cgpud stopped.
. "$(dirname "$0")/../lib.sh"

of_unit() { systemctl show cgpu-exporter --property "$1" --value; }
metrics() {
    exec 3<>/dev/tcp/127.0.0.1/"${1:-9835}" && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3 && cat <&3 && exec 3>&-
}
has_metric() { grep -qE -- "$1" <(metrics "${2-}" 2>/dev/null); }

expect_equal "the service" "$(systemctl is-enabled cgpu-exporter) $(systemctl is-active cgpu-exporter)" 'disabled inactive'
expect systemctl start cgpu-exporter
process=$(of_unit MainPID)
expect_equal "its user" "$(stat -c %U "/proc/$process")" cgpu-exporter
expect_equal "capabilities" "$(sed -n 's/^CapEff:\t*//p' "/proc/$process/status")" 0000000000000000
expect exposure cgpu-exporter 15 >"$scratch/exposure"
tail -n 1 "$scratch/exposure"
wait_for 10 has_metric '^cgpud_up 1'
expect has_metric '^cgpu_gpu_memory_total_bytes\{gpu="0"'

# It doesn't start cgpud, which a call over the bus would do.
expect systemctl stop cgpud
wait_for 10 has_metric '^cgpud_up 0'
has_metric '^cgpu_gpu_' && fail 'stale figures of GPUs'
for _ in 1 2 3 4 5; do has_metric '^cgpud_up 0' || fail 'cgpud is back'; done
expect_equal "cgpud" "$(systemctl is-active cgpud)" inactive
expect systemctl start cgpud
wait_for 10 has_metric '^cgpud_up 1'

# Another port, as the manual says. A wrong address isn't tried again and again.
mkdir -p /etc/systemd/system/cgpu-exporter.service.d
printf '[Service]\nEnvironment=LISTEN=127.0.0.1:9836\n' >/etc/systemd/system/cgpu-exporter.service.d/override.conf
expect systemctl daemon-reload
expect systemctl restart cgpu-exporter
wait_for 10 has_metric '^cgpud_up 1' 9836
printf '[Service]\nEnvironment=LISTEN=localhost\n' >/etc/systemd/system/cgpu-exporter.service.d/override.conf
expect systemctl daemon-reload
systemctl restart cgpu-exporter 2>/dev/null && fail 'it started with a wrong address'
expect_equal "state" "$(of_unit ActiveState) $(of_unit ExecMainStatus)" 'failed 2'
expect_equal "its log" "$(journalctl -q -o cat -u cgpu-exporter | grep -c 'is not an address with a port')" 1

# The package is installed again: what runs is restarted, what doesn't isn't started. Its removal ends it.
rm -r /etc/systemd/system/cgpu-exporter.service.d
expect systemctl daemon-reload
systemctl reset-failed cgpu-exporter
expect dpkg -i "$CGPU_LAB_PACKAGE" >"$scratch/install.log" 2>&1
expect_equal "the stopped service after an upgrade" "$(systemctl is-active cgpu-exporter)" inactive
expect systemctl start cgpu-exporter
process=$(of_unit MainPID)
expect dpkg -i "$CGPU_LAB_PACKAGE" >"$scratch/install.log" 2>&1
expect_equal "the running service after an upgrade" "$(systemctl is-active cgpu-exporter)" active
[[ $(of_unit MainPID) != "$process" ]] || fail 'an upgrade leaves the former exporter running'
expect dpkg -r cgpu >"$scratch/remove.log" 2>&1
[[ ! -d /proc/$(of_unit MainPID) || $(of_unit MainPID) == 0 ]] || fail 'the exporter survived the removal'
