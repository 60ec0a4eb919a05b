#!/usr/bin/env bash
# NVIDIA's runtime where its config.toml lets containers without privileges name GPUs by volumes only, or by nothing.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
settings=/etc/nvidia-container-runtime/config.toml
mkdir -p "$(dirname $settings)" /etc/cgpu
# What the toolkit does by these settings, before the lab's stand-in for it.
cat >"$scratch/runtime" <<'TEXT'
#!/usr/bin/env bash
bundle=$PWD create=''
for ((i = 1; i <= $#; i++)); do
    case ${!i} in create | run) create=1 ;; --bundle=*) bundle=${!i#*=} ;; --bundle | -b) i=$((i + 1)) && bundle=${!i} ;; esac
done
is_true() { grep -qx "$1 = true" /etc/nvidia-container-runtime/config.toml; }
if [[ $create ]]; then
    privileged=$(jq '.process.capabilities.bounding | index("CAP_SYS_ADMIN") != null' "$bundle/config.json")
    place=/var/run/nvidia-container-devices/ names=''
    ! is_true accept-nvidia-visible-devices-as-volume-mounts ||
        names=$(jq -r --arg place "$place" '[.mounts[]?.destination | select(startswith($place)) | ltrimstr($place)] | join(",")' "$bundle/config.json")
    if [[ $names ]] || { [[ $privileged == false ]] && ! is_true accept-nvidia-visible-devices-envvar-when-unprivileged; }; then
        jq --arg names "$names" '.process.env |= map(select(startswith("NVIDIA_VISIBLE_DEVICES=") | not)) |
            if $names != "" then .process.env += ["NVIDIA_VISIBLE_DEVICES=" + $names] else . end' "$bundle/config.json" >"$bundle/config.json.new" &&
            mv "$bundle/config.json.new" "$bundle/config.json"
    fi
fi
exec /usr/bin/nvidia-container-runtime "$@"
TEXT
chmod +x "$scratch/runtime"
ln -sf "$scratch/runtime" /etc/cgpu/next-runtime
accept() { # BY-VARIABLE BY-VOLUMES
    printf 'accept-nvidia-visible-devices-envvar-when-unprivileged = %s\naccept-nvidia-visible-devices-as-volume-mounts = %s\n[nvidia-container-cli]\n' "$1" "$2" >$settings
}
four=$((4 << 30))

accept true false
expect_total $four in_container -e CGPU_MEM=4GiB -- info
accept false true
expect_total $four in_container -e CGPU_MEM=4GiB -- info
expect_total $four in_container -e CGPU_MEM=4GiB -v /dev/null:/var/run/nvidia-container-devices/0 -- info
expect_total $four in_container -e CGPU_MEM=4GiB --cap-add SYS_ADMIN -- info
accept false false
expect_error 'Try: write accept-nvidia-visible-devices-as-volume-mounts = true into /etc/nvidia-container-runtime/config.toml' \
    in_container -e CGPU_MEM=4GiB -- info
expect_total $four in_container -e CGPU_MEM=4GiB --cap-add SYS_ADMIN -- info
rm -f /etc/cgpu/next-runtime $settings
