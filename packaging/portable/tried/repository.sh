# repository.sh LAB…: a booted node that installs from a repository: README's commands, a job within three minutes, the next release by
# `apt upgrade` under it, and back. The next one is the same tree under a higher number, and the key is made for this. Nothing is
# believed that has another byte.
if [[ ${1-} != inside ]]; then
    set -eu
    tree=$(cd "$(dirname "$0")/../../.." && pwd)
    made=$tree/build/portable/package published=$tree/build/portable/published newer=9.0.0
    version=$(sed -nE 's/^project\(cgpu VERSION ([0-9.]+).*/\1/p' "$tree/CMakeLists.txt")
    "$tree/.ci/package" --portable "$newer" >"$made/newer.log" 2>&1 || { tail -n 40 "$made/newer.log" && exit 1; }
    GNUPGHOME=$(mktemp -d)
    export GNUPGHOME
    trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
    gpg --batch --quiet --passphrase '' --quick-generate-key releases@cgpu.example rsa3072 sign 1d
    rm -rf "$published"
    mkdir -p "$published"
    "$tree/packaging/repository/add" "$published/first" --key releases@cgpu.example "$made"/cgpu{,-fs}_"$version"_amd64.deb
    cp -a "$published/first" "$published/second"
    "$tree/packaging/repository/add" "$published/second" --key releases@cgpu.example "$made"/cgpu{,-fs}_"$newer"_amd64.deb
    "$@" --gpus V100:16130MiB --systemd=bare -- bash "$0" inside "$tree" "$newer"
    exit
fi
tree=$2 newer=$3
. "$tree/tests/system/lib.sh"
published=$tree/build/portable/published
older=$(dpkg-deb -f "$CGPU_LAB_PACKAGE" Version)
active() { [[ $(systemctl is-active cgpud) == active ]]; }
version() { cgpuctl status --json | jq -r .version; }
process() { systemctl show cgpud --property MainPID --value; }
# quietly COMMAND…: its output is shown where it fails.
quietly() { "$@" >"$scratch/said" 2>&1 || { cat "$scratch/said" && fail "$*"; }; }

rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/yes
ln -sfn "$published/first" /srv/cgpu
sed -n '/^## Install/,/^## /{/^```/,/^```/{/^```/!p}}' "$tree/README.md" >"$scratch/readme"
expect_equal "README's commands" "$(grep -cE '^(install|echo|apt) ' "$scratch/readme")" 3
began=$SECONDS
quietly bash -e "$scratch/readme"
wait_for 20 active
expect_equal "version" "$(version)" "$older"

job held --mem 1GiB -- alloc --mib 100 --hold
wait_for 20 is_ready held
took=$((SECONDS - began))
((took < 180)) || fail "README's way to the first job took $took s"
jobs=$(cgpuctl list -q)
before=$(process)
# The next release, first with another byte.
cp -a "$published/second" "$scratch/damaged"
chmod 755 "$scratch"
file=$scratch/damaged/apt/pool/cgpu_${newer}_amd64.deb
printf 'x' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") / 2)) conv=notrunc status=none
ln -sfn "$scratch/damaged" /srv/cgpu
quietly apt-get update
expect_error 'Hash Sum mismatch' apt-get upgrade
expect_equal "cgpud's process" "$(process)" "$before"
ln -sfn "$published/second" /srv/cgpu
quietly apt-get update
quietly apt-get upgrade
wait_for 20 active
expect_equal "version" "$(version)" "$newer"
expect_equal "cgpud's process" "$(($(process) != before))" 1
expect_equal "jobs" "$(cgpuctl list -q)" "$jobs"
expect is_ready held
quietly apt-get install cgpu-fs
expect_equal "cgpu-fs" "$(dpkg-query -W -f '${Version}' cgpu-fs)" "$newer"
quietly apt-get install --allow-downgrades "cgpu=$older" "cgpu-fs=$older"
wait_for 20 active
expect_equal "version" "$(version)" "$older"
expect_equal "jobs" "$(cgpuctl list -q)" "$jobs"
end_job held
wait_for 10 none_listed
quietly apt-get purge cgpu
expect test ! -e /usr/bin/cgpuctl
echo "the repository holds: the first job after $took s, $older, $newer and back"
