# Mistakes of users and faults of disks: each causes a clear error, and nothing is lost. A job computes meanwhile.
. "$(dirname "$0")/../lib.sh"
gpu_path=$(busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindGpu s 0 | cut -d '"' -f 2)
policy() {
    cgpuctl status --json | jq -r '.gpus[0].policy_name'
}

job steady --mem 2GiB -- burn --forever
wait_for 20 is_ready steady

# Configuration: the message has the file, the line, and the allowed values.
bad_config() { # TEXT WANTED
    echo "$1" >"$scratch/bad.yaml"
    expect_error "$2" cgpud --check --config "$scratch/bad.yaml"
    expect_error 'bad.yaml:[12]: .*Try: ' cgpud --check --config "$scratch/bad.yaml"
}
bad_config 'max_inst: 26' '1 to 25'
bad_config 'policy: fast' 'fair-share'
bad_config 'polcy: fixed' 'polcy'
bad_config 'slice_ms: 0' '1 to 100'
bad_config 'policy: [' 'YAML'
bad_config 'gpus: {0: {prio_ratio: 100}}' '20 to 99'
bad_config 'max_inst: 012' 'it begins with a zero, by which YAML may mean an octal number'
bad_config 'gpus: {00: {policy: fixed}}' 'is an index with a zero before it'
bad_config 'state_dir: /' 'it is the root of all folders'
bad_config 'runtime_dir: /var/lib/cgpu/run' 'it lies in state_dir'
bad_config "$(printf 'state_dir: "/srv/a\\0b"')" 'it is not a path'
printf 'max_inst: 4\n\0policy: fixed\n' >"$scratch/zeros.yaml"
expect_error 'zeros.yaml:2: the file: it has the control character "\\x00"' cgpud --check --config "$scratch/zeros.yaml"
expect_error 'zeros.yaml:2: the file: it has the control character "\\x00"' cgpud --check-files "$scratch/zeros.yaml"
# What is not read is told of.
mkdir -p /etc/cgpu/cgpud.yaml.d
echo 'max_inst: 4' >/etc/cgpu/cgpud.yaml.d/slices.yml
not_read='slices.yml: the file: it is not read, because its name does not end with .yaml. Try: '
expect cgpud --check >"$scratch/check.out" 2>&1
expect has "$scratch/check.out" "^cgpud: warning: /etc/cgpu/cgpud.yaml.d/$not_read"
kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
wait_for 5 in_log "$not_read"
cgpuctl doctor --json >"$scratch/doctor.out" 2>"$scratch/doctor.err"
expect jq -e '.findings | any(.check == "configuration" and .level == "warning" and (.what | test("slices.yml")))' \
    "$scratch/doctor.out" >/dev/null
rm -r /etc/cgpu/cgpud.yaml.d
# A running cgpud keeps its configuration.
mkdir -p /etc/cgpu
echo 'slice_ms: never' >/etc/cgpu/cgpud.yaml
kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
wait_for 5 in_log 'cgpud.yaml:1'
expect_equal "policy after a bad configuration" "$(policy)" proportional
rm /etc/cgpu/cgpud.yaml
computes steady

# Variables and flags.
refused() { # WANTED [NAME=VALUE…] cgpuctl run …
    expect_error "$1" env "${@:2}"
    expect_error 'Try: ' env "${@:2}"
}
refused 'ALIYUN_COM_GPU_MEM_CONTAINER=.*four' ALIYUN_COM_GPU_MEM_CONTAINER=four cgpuctl run -- info
refused 'CGPU_MEM=' CGPU_MEM=-1GiB cgpuctl run -- info
refused 'CGPU_MEM=' CGPU_MEM=5 cgpuctl run -- info
refused '1 to 25' CGPU_MEM=1GiB CGPU_WEIGHT=26 cgpuctl run -- info
refused '30 *%.*35 *%|35 *%.*30 *%' CGPU_MEM=1GiB CGPU_COMPUTE=33% cgpuctl run -- info
refused 'GPU 7' CGPU_MEM=1GiB CGPU_GPUS=7 cgpuctl run -- info
refused '--mem' cgpuctl run --mem 4 -- info
refused 'there is no|not there|No such' cgpuctl run --mem 1GiB -- no-such-program
refused 'policy|fair-share' cgpuctl set-policy 0 7
refused 'GPU' cgpuctl set-policy 3 fixed
refused '25' cgpuctl set-max-inst 0 26
refused 'nobody' cgpuctl show nobody
refused 'MiB' cgpuctl set-memory steady 100GiB
expect_equal "jobs after all refusals" "$(cgpuctl list --json | jq -c '[.[].name]')" '["steady"]'

# Unknown options on the bus.
expect_error 'bogus' busctl call org.cgpu1 "$gpu_path" org.cgpu1.Gpu SetPolicy 'sa{sv}' fixed 1 bogus b true
expect_error 'bogus' busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager CreateInstance 'ssa{ss}a{sv}' \
    0123456789ab name 1 CGPU_MEM 1GiB 1 bogus b true
expect_equal "policy after unknown options" "$(policy)" proportional

# A full disk below the state: what fits into the file that is kept for the next save is saved. Without that file nothing
# changes, nothing is lost, and it works again when there is space.
state=/var/lib/cgpu
expect mount -n -o remount,size=64k "$state"
fill_disk() { head -c 1M /dev/zero >"$state/filler" 2>/dev/null; }
fill_disk
expect cgpuctl set-policy 0 fixed
expect cgpuctl set-policy 0 proportional
rm "$state/.state.json.spare" || fail "there is no spare file"
fill_disk
expect_error "$state.*Try: " cgpuctl set-policy 0 fixed
expect_equal "policy with a full disk" "$(policy)" proportional
expect_error "$state.*Try: " cgpuctl run --mem 1GiB -- info
computes steady
rm "$state/filler"
expect cgpuctl set-policy 0 fixed
expect lab-restart-cgpud --kill
expect_equal "policy after the restart" "$(policy)" fixed
expect_equal "jobs after the restart" "$(cgpuctl list --json | jq -c '[.[].name]')" '["steady"]'
computes steady

# Files of a newer cgpud are refused and kept; the job computes on, and a cgpud that knows them takes them over again.
. "$CGPU_LAB/cgpud.sh"
refuses_to_start() { # FILE
    cp "$1" "$scratch/kept"
    start_cgpud && fail "cgpud started on $1 of a version to come"
    expect in_log "$1: it is of version 99 and this cgpud knows versions up to [0-9]+\. Try: start the newer cgpud that wrote it"
    expect cmp "$1" "$scratch/kept"
    expect test ! -e "$1.damaged"
    computes steady
}
leases=/run/cgpu/leases
expect stop_cgpud TERM
cp "$state/state.json" "$scratch/state"
jq 'del(.checksum) | .version = 99' "$scratch/state" >"$state/state.json"
refuses_to_start "$state/state.json"
cp "$scratch/state" "$state/state.json"
cp $leases "$scratch/leases"
printf 'c' | dd of=$leases bs=1 seek=8 conv=notrunc status=none # 99
refuses_to_start $leases
cp "$scratch/leases" $leases
expect start_cgpud
expect_equal "jobs after the restart" "$(cgpuctl list --json | jq -c '[.[].name]')" '["steady"]'
expect_equal "policy after the restart" "$(policy)" fixed
computes steady
end_job steady
wait_for 5 none_listed
wait_for 5 nothing_held
