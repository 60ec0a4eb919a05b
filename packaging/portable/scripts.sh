#!/usr/bin/env bash
# scripts.sh DEB OUT: writes the package's scripts for forms that don't have Debian's helpers: OUT/preinst, postinst, prerm and
# postrm, called as dpkg would call them. They are the .deb's own, but what debhelper added for systemd is said in its words.
set -euo pipefail
deb=$1 out=$2
case $(dpkg-deb -f "$deb" Package) in
    cgpu) units='cgpu-nvml.socket cgpud.service' others=cgpu-exporter.service ;;
    cgpu-fs) units=cgpu-fs.service others='' ;;
esac
mkdir -p "$out"
dpkg-deb -e "$deb" "$out/control"

# systemd_part SCRIPT: what starts and stops the units there.
systemd_part() {
    case $1 in
        postinst)
            cat <<TEXT
if [ "\$1" = configure ] && [ -d /run/systemd/system ]; then
    journalctl --update-catalog || true
    systemctl daemon-reload
    action=try-restart
    if systemctl -q is-enabled ${units#* }; then action=restart; fi
    systemctl "\$action" $units || true
    ${others:+systemctl try-restart $others || true}
fi
TEXT
            ;;
        prerm)
            cat <<TEXT
if [ "\$1" = remove ]; then
    now=
    if [ -d /run/systemd/system ]; then now=--now; fi
    systemctl -q disable \$now $units $others || true
fi
TEXT
            ;;
        postrm)
            cat <<'TEXT'
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
TEXT
            ;;
    esac
}

for script in preinst postinst prerm postrm; do
    [[ -e $out/control/$script ]] || continue
    systemd_part "$script" >"$out/control/systemd"
    # In place of the first part that debhelper added; the others go.
    awk -v text="$out/control/systemd" '
        /^# Automatically added by dh_/ { inside = 1; if (!done++) while ((getline line < text) > 0) print line }
        !inside
        /^# End automatically added section/ { inside = 0 }' "$out/control/$script" >"$out/$script"
    chmod 755 "$out/$script"
done
rm -r "$out/control"
