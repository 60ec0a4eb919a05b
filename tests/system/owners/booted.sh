# Whose instances are, and what each user may have, on a booted Debian with its polkit, Docker and rootless Podman: alice (one of a
# group of two), bob, and a service account. Each limit is met and missed once by each way of asking, and attempts to take another's
# name, right or limit fail (booted_attacks.sh). By the simulator's ledger nobody has more. CGPU_TEST_SCALE: with 1, containers ask
# for each limit in each way.
. "$(dirname "${BASH_SOURCE[0]}")/booted_lib.sh"
setpriv --reuid=65534 --clear-groups unshare --user true 2>/dev/null || skip "this kernel makes no user namespaces for users"
chmod 755 "$scratch"
for group in team night rich; do expect groupadd $group; done
for user in alice amy bob; do make_user $user; done
for user in alice amy; do expect usermod --append --groups team $user; done
expect usermod --append --groups night alice
expect useradd --system --no-create-home --shell /usr/sbin/nologin backup-job
for user in alice amy bob; do wait_for 20 has_logged_in $user; done
mkdir -p /etc/containers /etc/nvidia-container-runtime
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >/etc/containers/policy.json
echo legacy >/etc/nvidia-container-runtime/mode
cat >$configuration <<TEXT
limits:
  default: {instances: 1, memory: 1GiB, memory_per_gpu: 6GiB, gpus: 2, compute: 100%}
  groups:
    team: {instances: 5, memory: 6GiB, compute: 25%, priority: false}
    night: {instances: 2, compute: 75%}
    rich: {instances: 20, memory: 40GiB}
  users:
    alice: {memory_per_gpu: 5GiB, time: 2h}
    bob: {instances: 2, memory: unlimited}
  containers: {instances: 2, memory: 6GiB, memory_per_gpu: 5GiB, compute: 25%, gpus: 2, priority: false, time: 3h}
profiles:
$request_profiles
  notebook: {mem: 1GiB, compute: 5%, max: {mem: 2GiB, compute: 10%, gpus: 1}}
TEXT
expect cgpuctl config check $configuration
reload
mkdir -p /etc/cdi
expect cgpuctl cdi generate --output /etc/cdi/cgpu.json >/dev/null 2>&1
may_run alice amy bob backup-job high alice
docker save lab >"$scratch/lab.tar" && chmod 644 "$scratch/lab.tar"
expect engine alice load -q -i "$scratch/lab.tar" >/dev/null
expect engine root load -q -i "$scratch/lab.tar" >/dev/null
expect cp "$(command -v alloc)" /usr/local/bin/ # for services, which don't see the trees
wait_for 20 polkit_answers
wait_for 20 quietly by_flags alice '' CGPU_MEM=1GiB

echo "Alice, in every way that a user has: the narrowest rule counts, which is her own, the strictest of her groups, or the default."
alices=(flags environment profile bus own_service podman annotation device)
hold alice train cgpuctl run --mem 2GiB --compute 10% --gpus 0 --name train -- alloc --mib 100 --hold
for way in "${alices[@]}"; do met_and_missed "$way" alice alice; done
# The container's processes have ids of her range, and the container is hers.
alice_range=$(sed -n 's/^alice:\([0-9]*\):.*/\1/p' /etc/subuid)
alice_holds_container second 1GiB 1 alloc --mib 100 --hold
expect_equal "the user id of the container's process" "$(ledger '.processes[] | select(.alive and .gpus[].gpu == 1).pid' |
    xargs -I{} stat -c %u /proc/{})" $((alice_range + 999))
expect_equal "whose second is" "$(owner second)" alice
for way in "${alices[@]}"; do one_too_many "$way" alice alice; done
let_go second

echo "Amy's part is as large, whatever alice has. Bob has more, and a service account the least."
quietly by_flags amy '' CGPU_MEM=3GiB CGPU_GPUS=0,1 || fail "6GiB fit amy"
expect_error 'amy may have 6GiB in all \(limits.groups.team.memory\), and has nothing yet' by_environment amy '' CGPU_MEM=3073MiB CGPU_GPUS=0,1
quietly by_flags bob '' CGPU_MEM=6GiB CGPU_GPUS=0,1 || fail "12GiB fit bob"
expect_error 'bob may have 6GiB of one GPU \(limits.default.memory_per_gpu\), of which 6GiB is left' by_flags bob '' CGPU_MEM=6145MiB CGPU_GPUS=0
expect quietly by_system_service backup-job '' CGPU_MEM=1GiB
expect_error 'backup-job may have 1GiB in all \(limits.default.memory\), and has nothing yet' by_system_service backup-job '' CGPU_MEM=1025MiB
systemd-run --quiet --collect --unit nightly --uid backup-job --setenv CGPU_MEM=1GiB cgpuctl run --name nightly -- alloc --mib 100 --hold
wait_for 20 lives nightly
expect_equal "whose nightly is" "$(owner nightly)" backup-job
expect_error 'backup-job may have 1 instance \(limits.default.instances\), and has 1 instance: nightly \(1GiB\)' \
    by_system_service backup-job '' CGPU_MEM=1MiB
expect systemctl stop nightly

echo "A profile's max, in every way that can ask for more."
for way in flags environment bus podman annotation; do
    add=(CGPU_PROFILE=notebook)
    quietly "by_$way" alice '' "${add[@]}" CGPU_MEM=2GiB CGPU_COMPUTE=10% || fail "notebook's max by $way"
    expect_error 'the profile allows 2GiB.* Try: ' "by_$way" alice '' "${add[@]}" CGPU_MEM=2049MiB
    expect_error 'the profile allows 10%.* Try: ' "by_$way" alice '' "${add[@]}" CGPU_COMPUTE=15%
    expect_error 'the profile allows 1 GPU.* Try: ' "by_$way" alice '' "${add[@]}" CGPU_GPUS=0,1
done
echo "The longest time, in every way that can ask for it."
for way in flags environment bus own_service podman annotation; do
    quietly "by_$way" alice '' CGPU_MEM=100MiB CGPU_TIME=2h || fail "two hours by $way"
    expect_error '2h1m is asked for, and alice may have 2h for each instance \(limits.users.alice.time\)' \
        "by_$way" alice '' CGPU_MEM=100MiB CGPU_TIME=121m
done
let_go train

echo "Root's engine: its containers count together, in every way that it takes requests."
container_ways=(docker root_annotation root_device)
hold_container train CGPU_MEM=2GiB CGPU_COMPUTE=10% CGPU_GPUS=0
for way in "${container_ways[@]}"; do met_and_missed "$way" containers root; done
quietly by_docker root '' CGPU_MEM=100MiB CGPU_TIME=3h || fail "three hours by docker"
expect_error 'may have 3h for each instance \(limits.containers.time\)' by_docker root '' CGPU_MEM=100MiB CGPU_TIME=181m
echo "What they declare changes nothing as long as it isn't trusted. Labels never do."
expect_error "$(sentence containers memory)" by_docker root '' CGPU_MEM=4097MiB CGPU_GPUS=1 CGPU_OWNER=root
expect docker run -d --rm --name labelled --runtime cgpu --network none --label CGPU_OWNER=alice --label org.cgpu.owner=alice \
    -e CGPU_MEM=1GiB lab sleep 100 >/dev/null
wait_for 20 lives labelled
expect_equal "whose labelled is" "$(owner labelled)" -
expect docker rm -f labelled >/dev/null
hold_container second CGPU_MEM=1GiB CGPU_OWNER=alice
expect_equal "whose second is" "$(instance_of second | jq -r '[.owner, .declared_owner] | @csv')" ',"alice"'
for way in "${container_ways[@]}"; do one_too_many "$way" containers root; done
expect docker rm -f train second >/dev/null

echo "Where declarations are trusted, they count as alice's."
echo 'limits: {trust_declared_owners: true}' >/etc/cgpu/cgpud.yaml.d/60-trust.yaml
reload
hold alice train cgpuctl run --mem 2GiB --compute 10% --gpus 0 --name train -- alloc --mib 100 --hold
met_and_missed docker alice root CGPU_OWNER=alice
met_and_missed root_annotation alice root org.cgpu.owner=alice
expect_error "$(sentence alice memory)" by_podman alice '' CGPU_MEM=4097MiB CGPU_GPUS=1 CGPU_OWNER=bob
hold_container second CGPU_MEM=1GiB CGPU_OWNER=alice
one_too_many docker alice root CGPU_OWNER=alice
one_too_many root_annotation alice root org.cgpu.owner=alice
one_too_many flags alice alice
quietly by_docker root '' CGPU_MEM=5GiB || fail "containers without an owner have their own limits"
expect_error 'containers of root.s engine together may have 6GiB' by_docker root '' CGPU_MEM=4GiB CGPU_GPUS=0,1 CGPU_OWNER=root
expect docker rm -f second >/dev/null
let_go train
rm /etc/cgpu/cgpud.yaml.d/60-trust.yaml
reload
. "$here/booted_attacks.sh"
