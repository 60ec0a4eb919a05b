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

echo "remove leaves the file as it was found, to the byte."
for text in '' 'version = 2' $'version = 2\n\n\n[plugins] # none\n\n'; do
    printf '%s' "$text" >$file
    cp $file "$scratch/found"
    expect cgpuctl runtime configure --for containerd -q
    expect_registered
    expect cgpuctl runtime configure --for containerd -q
    expect cgpuctl runtime configure --for containerd --remove -q
    expect cmp $file "$scratch/found"
    [[ ! -e $file.before-cgpu ]] || fail "$file.before-cgpu is left"
done

echo "A plugin that is disabled, here or in an imported file, would never have the runtime."
printf 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n' >$file
cp $file "$scratch/found"
expect_error 'disabled_plugins has io.containerd.grpc.v1.cri, .* Try: take it out' cgpuctl runtime configure --for containerd
expect cmp $file "$scratch/found"
cp $file /etc/containerd/other.toml
printf 'version = 2\nimports = ["/etc/containerd/other.toml"]\n' >$file
cp $file "$scratch/found"
expect_error 'disabled_plugins has .*by a file that this one imports.*The file is as it was' cgpuctl runtime configure --for containerd
expect cmp $file "$scratch/found"
[[ ! -e $file.before-cgpu ]] || fail "$file.before-cgpu is left"
rm /etc/containerd/other.toml

echo "The file is that of the containerd that runs."
printf 'version = 2\nroot = "%s/root"\nstate = "%s/state"\n[grpc]\naddress = "%s/sock"\n' "$scratch" "$scratch" "$scratch" >"$scratch/own.toml"
containerd --config "$scratch/own.toml" >"$scratch/containerd.log" 2>&1 &
own=$!
wait_for 10 test -S "$scratch/sock"
rm -f $file
cgpuctl runtime configure --for containerd | grep -q "^$scratch/own.toml: .*still has what it read at its start" || fail "another file was taken"
[[ ! -e $file ]] || fail "$file was written"
kill "$own" && wait "$own"

echo "What is refused."
printf 'root = "/var/lib/containerd"\n' >$file
expect_error 'config.toml: .* is of version 1, .* Try: ' cgpuctl runtime configure --for containerd
expect_error '[-][-]for containerd: --as, .* Try: ' cgpuctl runtime configure --for containerd --default
expect_equal "the file" "$(cat $file)" 'root = "/var/lib/containerd"'
