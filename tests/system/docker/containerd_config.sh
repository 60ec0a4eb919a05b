#!/usr/bin/env bash
# cgpuctl runtime configure --for containerd: what containerd itself reads in the file, with files as packages have them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v containerd >/dev/null || skip "containerd is not here"
file=/etc/containerd/config.toml
# read_by_containerd KEY: of the runtime cgpu. containerd fills in what the file doesn't say.
read_by_containerd() {
    containerd -c $file config dump | sed -n '/runtimes\.cgpu/,/^$/p' | sed -n "s/^ *$1 = \"\(.*\)\"/\1/p"
}
runtimes() { containerd -c $file config dump | grep -oE 'runtimes\.[a-z]+\]' | sort -u | xargs; }
expect_registered() {
    expect_equal "the type" "$(read_by_containerd runtime_type)" io.containerd.runc.v2
    expect_equal "the program" "$(containerd -c $file config dump | sed -n 's/^ *BinaryName = "\(.*cgpu.*\)"/\1/p')" /usr/bin/cgpu-runtime
    expect_equal "runtimes" "$(runtimes)" "runtimes.cgpu] runtimes.runc]"
}
mkdir -p /etc/containerd

echo "Without a file."
expect rm -f $file
expect cgpuctl runtime configure --for containerd --dry-run >/dev/null
[[ ! -e $file ]] || fail "a dry run wrote the file"
expect cgpuctl runtime configure --for containerd >/dev/null
expect_registered
expect cgpuctl runtime configure --for containerd --remove >/dev/null
[[ ! -e $file ]] || fail "the file is left: $(cat $file)"

echo "With the files that people have."
printf 'version = 2\n\n[plugins]\n  [plugins."io.containerd.grpc.v1.cri".cni]\n    bin_dir = "/usr/lib/cni" # of Debian\n' >"$scratch/debian"
containerd config default >"$scratch/default" || fail "containerd prints no configuration"
sed 's/SystemdCgroup = false/SystemdCgroup = true/' "$scratch/default" >"$scratch/systemd"
for kind in debian default systemd; do
    cp "$scratch/$kind" $file
    containerd -c $file config dump >"$scratch/before" || fail "containerd can't read $kind"
    expect cgpuctl runtime configure --for containerd >/dev/null
    expect_registered
    expect_equal "what is written twice" "$(cgpuctl runtime configure --for containerd --dry-run)" "$file: nothing would change; nothing was."
    # All else is what it was: containerd's own runtime, too.
    expect_equal "the rest of $kind" "$(containerd -c $file config dump | sed '/runtimes\.cgpu/,/^ *$/d' | sed '/BinaryName = "\/usr\/bin\/cgpu/,/^ *$/d' | grep -c runc.v2)" \
        "$(grep -c runc.v2 "$scratch/before")"
    expect cgpuctl runtime configure --for containerd --remove >/dev/null
    expect cmp "$scratch/$kind" $file
done
cp "$scratch/systemd" $file
expect cgpuctl runtime configure --for containerd -q
expect_equal "SystemdCgroup" "$(containerd -c $file config dump | sed -n '/runtimes\.cgpu\.options/,/^$/p' | grep -o 'SystemdCgroup = .*')" "SystemdCgroup = true"

echo "What is refused."
printf 'disabled_plugins = ["cri"]\n' >$file
expect_error 'config.toml: .* is of version 1, .* Try: ' cgpuctl runtime configure --for containerd
expect_error '[-][-]for containerd: --as, .* Try: ' cgpuctl runtime configure --for containerd --default
expect_equal "the file" "$(cat $file)" 'disabled_plugins = ["cri"]'
