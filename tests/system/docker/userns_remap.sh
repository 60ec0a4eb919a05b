#!/usr/bin/env bash
# A dockerd with userns-remap: no process of a container has a uid of the host's users, and root in it is an ordinary user for
# the host. Containers get their limit all the same, as root and as another user, and are found if they take memory without the
# module.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../escape/found.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../lab.d/docker/image.sh"

unshare --user true 2>/dev/null || skip "this kernel makes no user namespaces"
first_uid=300000
stop_docker
echo "lab-remap:x:1999:1999::/:/bin/false" >>/etc/passwd
echo "lab-remap:x:1999:" >>/etc/group
echo "lab-remap:$first_uid:65536" | tee -a /etc/subuid >>/etc/subgid
jq '."userns-remap" = "lab-remap"' /etc/docker/daemon.json >"$scratch/daemon.json" || fail "no daemon.json"
cp "$scratch/daemon.json" /etc/docker/daemon.json
expect start_docker
expect import_image "$(dirname "$(readlink -f "$(command -v info)")")"
expect docker create --name making lab >/dev/null
expect docker commit --change "USER 1000:1000" making lab-user >/dev/null
expect docker rm making >/dev/null

uid_of() { stat -c %u "/proc/${pids[$1]}"; }
asks=("${four_of_15[@]}")
mkdir -p /etc/nvidia-container-runtime
for mode in legacy cdi; do
    echo "NVIDIA's runtime in its mode $mode: as root of the container, and as the image's own user"
    echo "$mode" >/etc/nvidia-container-runtime/mode
    container root -- burn --forever
    expect_equal "uid on the host" "$(uid_of root)" $first_uid
    image=lab-user container user -- burn --forever
    expect_equal "uid on the host" "$(uid_of user)" $((first_uid + 1000))
    for name in root user; do
        wait_for 20 container_is_ready "$name"
        expect_total "$limit_of_four" docker exec "$name" info
        computes "$name"
        expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' docker exec "$name" alloc --mib 4302
    done
    expect_total "$limit_of_four" docker exec --user 1234:1234 root info
    expect docker rm -f root user >/dev/null
    wait_for 10 none_listed
done

echo "Memory that the image's user takes without the module is found."
policy report
image=lab-user container escapes -- escape --mib 5000
wait_for 30 was_found "${pids[escapes]}" "$unexplained"
expect docker rm -f escapes >/dev/null
wait_for 10 none_listed
wait_for 10 nothing_held
