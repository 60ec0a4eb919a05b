#!/usr/bin/env bash
# suite.sh LAB…: what people do with containers, under Docker and Podman, each with runc and with crun: in every one of these
# cases a container has its limit, and nothing of it is left behind. On the Debian that this runs on; the versions are printed.
# ENGINES, RUNTIMES and CASES in the environment choose some of them.
. "$(dirname "$0")/../podman/lib.sh"
if (($#)); then
    download_podman || fail "Podman's packages could not be downloaded"
    expect "$@" --docker --gpus V100:16130MiB -- bash "$0"
    exit
fi
. "$(dirname "$0")/words.sh"
. "$(dirname "$0")/cases.sh"

let_crun_work
expect make_podman
# Otherwise Podman asks only runc and crun for a log, from which it takes what it tells its user.
printf '[engine]\nruntime_supports_json = ["runc", "crun"]\n' >/etc/containers/containers.conf
expect cgpuctl runtime configure --for podman --dry-run >/dev/null
[[ ! -e /etc/containers/containers.conf.d/50-cgpu.conf ]] || fail "a dry run changed Podman's files"
expect cgpuctl runtime configure --for podman >/dev/null
podman_runtime=cgpu
expect docker save -o "$scratch/lab.tar" lab
first_uid=300000
echo "lab-remap:x:1999:1999::/:/bin/false" >>/etc/passwd
echo "lab-remap:x:1999:" >>/etc/group
echo "lab-remap:$first_uid:65536" | tee -a /etc/subuid >>/etc/subgid
# The mode of NVIDIA's runtime in which most cases run; one case has the other.
declare -A modes=([runc]=legacy [crun]=cdi)
version_of() {
    case $1 in
        docker) docker version -f 'Docker {{.Server.Version}}' ;;
        podman) podman --version ;;
    esac
}
read -r -a cases <<<"${CASES-${cases[*]}}"
for engine in ${ENGINES-docker podman}; do
    [[ $engine == docker ]] || expect engine load -q -i "$scratch/lab.tar" >/dev/null
    for runtime in ${RUNTIMES-runc crun}; do
        echo "== $(version_of "$engine"), $("$runtime" --version | head -n 1)"
        began=$SECONDS
        use "$engine" "$runtime" "${modes[$runtime]}"
        asks=("${four_of_15[@]}")
        all_cases
        echo "$engine with $runtime: ${#cases[@]} cases, $((SECONDS - began)) s"
    done
done
expect cgpuctl runtime configure --for podman --remove >/dev/null
[[ ! -e /etc/containers/containers.conf.d/50-cgpu.conf ]] || fail "Podman's file of cgpu is left"
