# The installed versions of the module: listed, verified, added and removed, while a job runs one of them.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")
modules=/usr/lib/cgpu/module
own=$(cgpuctl status --json | jq -r .module_version)
engine=$modules/$own/libcgpu-engine.so.$own
offers=$scratch/offers
mkdir -m 755 "$offers"
chmod 755 "$scratch"

# listed VERSION FILTER: of its entry in the list
listed() {
    cgpuctl module list --json | jq -r --arg version "$1" ".[] | select(.version == \$version) | $2"
}
names() {
    ls -A "$modules" | sort -V | tr '\n' ' '
}

# The installed version is valid, in force, and its checksum is that of the file.
expect cgpuctl module verify >/dev/null
expect_equal "versions" "$(cgpuctl module list --json | jq -r 'map(.version) | join(" ")')" "$own"
expect_equal "in force" "$(listed "$own" .in_force)" true
expect_equal "sum" "$(cgpuctl module show "$own" --json | jq -r .manifest.sha256)" "$(sha256sum <"$engine" | cut -d ' ' -f 1)"
expect_equal "processes" "$(listed "$own" '.processes | length')" 0

# A job's process is shown as a user of its version.
job burner -- burn --forever --kernel-us 1000
wait_for 10 more_than 0 "${pids[burner]}"
expect_equal "processes" "$(listed "$own" '.processes | join(" ")')" "${pids[burner]}"

# Another version, from a folder and from a tar file; running processes don't change.
expect make_bundle "$offers" "$engine" 8.1.0 "$own"
expect make_bundle "$offers" "$engine" 8.2.0 8.1.0
tar -C "$offers" -czf "$scratch/8.2.0.tar.gz" 8.2.0
expect cgpuctl module verify "$offers/8.1.0" >/dev/null
expect cgpuctl module add --dry-run "$offers/8.1.0" >/dev/null
expect_equal "after a dry run" "$(names)" "$own "
expect cgpuctl module add "$offers/8.1.0" >/dev/null
expect cgpuctl module add "$scratch/8.2.0.tar.gz" >/dev/null
expect_equal "folders" "$(names)" "$own 8.1.0 8.2.0 "
expect cgpuctl module verify >/dev/null
expect_equal "hot from" "$(listed 8.2.0 .manifest.compatible_from)" 8.1.0
expect_equal "in force" "$(listed 8.2.0 .in_force)" false
expect_equal "module in force" "$(cgpuctl status --json | jq -r .module_version)" "$own"
computes burner
expect_error 'never changes' cgpuctl module add "$offers/8.1.0"

# Invalid bundles are refused with the reason, and nothing of them is left.
spoilt() { # HOW WHY: an offer that this command line changes (in its folder) is refused for this reason
    rm -rf "$offers/8.3.0"
    expect make_bundle "$offers" "$engine" 8.3.0
    (cd "$offers/8.3.0" && eval "$1") || fail "it could not be done: $1"
    expect_error "$2" cgpuctl module verify "$offers/8.3.0"
    expect_error "$2" cgpuctl module add "$offers/8.3.0"
    expect_equal "folders after: $1" "$(names)" "$own 8.1.0 8.2.0 "
}
file=libcgpu-engine.so.8.3.0
spoilt "printf x | dd of=$file bs=1 seek=5000 conv=notrunc status=none" 'its sha256 is not the one in its manifest'
spoilt "truncate -s 4096 $file && cgpu-make-manifest ." 'it is cut off'
spoilt "printf '\\267' | dd of=$file bs=1 seek=18 conv=notrunc status=none && cgpu-make-manifest ." 'it is for aarch64'
spoilt "cp /lib64/ld-linux-x86-64.so.2 $file && cgpu-make-manifest ." 'it exports no cgpu_engine_table'
spoilt "chmod g+w $file" 'its group can write it'
spoilt 'chmod o+w .' 'everybody can write it'
spoilt 'chown nobody manifest.json' 'it belongs to user'
spoilt "mv $file ../aside && ln -s ../aside $file" 'symbolic link'
spoilt 'rm manifest.json' 'manifest.json: it is not there'
spoilt 'sed -i s/8.3.0/8.4.0/ manifest.json' 'which its name doesn|is not libcgpu-engine.so.8.4.0'
spoilt 'sed -i "s/\"abi\": [0-9]*/\"abi\": 99/" manifest.json' "version 99 of the engine's ABI"

# Others than root may look, and change nothing.
as_nobody=(setpriv --reuid nobody --regid nogroup --clear-groups)
expect "${as_nobody[@]}" cgpuctl module list -q >/dev/null
"${as_nobody[@]}" cgpuctl module remove 8.1.0 2>"$scratch/nobody.err"
expect_equal "exit status without the right" $? 77

# Two at once: one of them doesn't wait and is refused, or both succeed; the folder is complete in any case.
for version in 8.5.0 8.6.0; do
    expect make_bundle "$offers" "$engine" "$version"
done
cgpuctl module add "$offers/8.5.0" >/dev/null 2>&1 &
first=$!
cgpuctl module add "$offers/8.6.0" >/dev/null 2>&1
second=$?
wait "$first"
((($? == 0) + (second == 0) >= 1)) || fail "neither of two was added"
expect cgpuctl module verify >/dev/null
for version in 8.5.0 8.6.0; do
    [[ ! -d $modules/$version ]] || expect cgpuctl module remove "$version" >/dev/null
done

# A command that was killed on the way leaves nothing that is listed, and nothing permanently.
mkdir -p "$modules/.cgpuctl.killed/8.7.0"
expect_equal "listed" "$(cgpuctl module list --json | jq -r 'map(.version) | join(" ")')" "$own 8.1.0 8.2.0"

# Versions that nothing uses can be removed: not the one in force, nor one that a process runs.
expect_error 'it is in force' cgpuctl module remove "$own"
expect cgpuctl module remove --dry-run 8.1.0 >/dev/null
expect cgpuctl module remove 8.1.0 >/dev/null
expect_equal "folders" "$(names)" "$own 8.2.0 "
expect_error 'it is not installed' cgpuctl module remove 8.1.0
# A program that has the engine mapped, as a job would after an upgrade.
python3 -c '
import mmap, sys, time
with open(sys.argv[1], "rb") as file:
    held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
print("mapped", flush=True)
time.sleep(1000)' "$modules/8.2.0/libcgpu-engine.so.8.2.0" >"$scratch/mapper.out" &
mapper=$!
wait_for 10 has "$scratch/mapper.out" mapped
expect_error "processes run it: $mapper" cgpuctl module remove 8.2.0
kill -KILL "$mapper"
wait "$mapper" 2>/dev/null
expect cgpuctl module remove 8.2.0 >/dev/null
expect_equal "folders" "$(names)" "$own "

# A corrupted version that is installed is shown as such, and no longer verified.
printf x >>"$engine"
expect_equal "state" "$(listed "$own" .sound)" false
expect_error 'its sha256 is not the one' cgpuctl module verify
computes burner
end_job burner
