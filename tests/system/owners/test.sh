# Whose instances are, and what each user may have: every limit met and missed, and attempts to take another's name or to lose one's
# own limit, by the environment, declarations, sudo, groups, user namespaces and names. By the simulator's ledger nobody has more.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/polkit_lib.sh"
find_polkit
chmod 755 "$scratch"
for user in alice bob carol; do expect useradd --no-create-home --shell /bin/bash $user; done
expect groupadd students
expect usermod --append --groups students alice
mkdir -p /etc/cgpu/cgpud.yaml.d
echo 'history_interval_s: 1' >/etc/cgpu/cgpud.yaml
limits() { cat >/etc/cgpu/cgpud.yaml.d/50-limits.yaml; }
limits <<'TEXT'
limits:
  default: {instances: 2}
  groups:
    students: {memory: 4GiB, priority: false}
  users:
    bob: {gpus: 1, compute: 25%, memory_per_gpu: 6GiB}
  containers: {memory: 5GiB}
TEXT
expect cgpud_as_cgpu
start_polkit
mkdir -p $rules
cat >$rules/10-cgpu-test.rules <<'TEXT'
polkit.addRule(function(action, subject) {
    var high = action.id == "org.cgpu1.manage-instance" && subject.user == "alice"; // for the limit of priority
    if ((action.id == "org.cgpu1.run" && subject.user != "carol") || high) return polkit.Result.YES;
});
TEXT
expect chmod u+s /usr/lib/cgpu/cgpu-enter
as() { setpriv --reuid="$1" --regid="$1" --init-groups "${@:2}"; }
run() { as "$1" cgpuctl run --mem "${@:2}"; } # USER SIZE OPTION… -- COMMAND
wait_for 10 quietly run alice 1GiB -- true

# hold USER NAME SIZE OPTION…: a job that stays.
hold() {
    rm -f "$scratch/$2.out"
    setpriv --reuid="$1" --regid="$1" --init-groups cgpuctl run --mem "$3" --name "$2" "${@:4}" -- alloc --mib 100 --hold \
        >"$scratch/$2.out" 2>"$scratch/$2.err" </dev/null &
    pids[$2]=$!
    wait_for 60 is_ready "$2"
}
reload() {
    local before after
    before=$(cgpuctl status --json | jq '.event_counts["configuration-read"] // 0')
    expect kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
    after() { (($(cgpuctl status --json | jq '.event_counts["configuration-read"] // 0') > before)); }
    wait_for 10 after
}
owner() { cgpuctl list | awk -v name="$1" '$2 == name {print $3}'; }
# ask_as_root NAME SIZE VARIABLE VALUE: as the runtime of root's engine does.
ask_as_root() {
    busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager CreateInstance 'ssa{ss}a{sv}' "$1" "$1" $((1 + ($# - 2) / 2)) CGPU_MEM "$2" \
        "${@:3}" 1 dry-run b true
}

# --- whose they are
hold alice train 3GiB
hold bob web 2GiB
expect_equal "whose train is" "$(owner train)" alice
expect_equal "whose web is" "$(owner web)" bob
expect_equal "the user id" "$(cgpuctl list --json | jq '.[] | select(.name == "train").owner')" "$(id -u alice)"
expect grep -qE '^Owner: +alice' <(cgpuctl show train)
env SUDO_UID="$(id -u alice)" SUDO_GID="$(id -g alice)" SUDO_USER=alice CGPU_MEM=1GiB cgpuctl run --name sudo -- alloc --mib 100 --hold \
    >"$scratch/sudo.out" 2>&1 </dev/null &
pids[sudo]=$!
wait_for 60 is_ready sudo
expect_equal "whose a job under sudo is" "$(owner sudo)" alice
end_job sudo
sudo_ended() { [[ -z $(owner sudo) ]]; }
wait_for 10 sudo_ended

# --- each limit, met and missed
full='alice may have 4GiB in all \(limits.groups.students.memory\), and has 1 instance: train \(3GiB\)'
expect quietly run alice 1GiB -- true
expect_error "$full.* Try: " run alice 2GiB -- true
run alice 2GiB -- true 2>/dev/null
expect_equal "exit code" $? 4
expect_error 'may not have high priority \(limits.groups.students.priority\)' run alice 1GiB --prio high -- true
hold alice second 1GiB
expect_error 'alice may have 2 instances \(limits.default.instances\)' run alice 1MiB -- true
end_job second
expect quietly run bob 4GiB --compute 20% -- true
expect_error 'bob may have 6GiB of one GPU .* of which 4GiB is left on it' run bob 5GiB -- true
expect_error "bob may have 25% of a GPU's 20 slices .* and has weight 1 there" run bob 1GiB --compute 25% -- true
other=$((1 - $(cgpuctl list --json | jq '.[] | select(.name == "web").gpus[0].index')))
expect_error '2 GPUs at once is asked for, and bob may have 1 GPU' run bob 1GiB --gpus $other -- true
expect_error 'limits.users.bob.gpus' run bob 1GiB --gpus 0,1 -- true
expect quietly ask_as_root box 5GiB
expect_error "the containers of root's engine together may have 5GiB in all" ask_as_root box 6GiB
expect quietly cgpuctl run --mem 10GiB --user root -- true

# --- in the place of another, or nobody
expect_error "$full" as alice env CGPU_OWNER=bob cgpuctl run --mem 2GiB -- true
expect_error "$full" as alice env SUDO_UID=0 SUDO_GID=0 SUDO_USER=root cgpuctl run --mem 2GiB -- true
expect_error "$full" run alice 2GiB --name bob -- true
expect_error "$full" setpriv --reuid=alice --regid=alice --clear-groups cgpuctl run --mem 2GiB -- true
expect_error "$full" setpriv --reuid=alice --regid=bob --clear-groups cgpuctl run --mem 2GiB -- true
expect_error "$full" as alice unshare --user --map-root-user cgpuctl run --mem 2GiB -- true
expect_error "$full" env SUDO_UID="$(id -u alice)" SUDO_GID="$(id -g alice)" SUDO_USER=alice CGPU_MEM=2GiB cgpuctl run -- true
expect_error "$full" env CGPU_MEM=2GiB cgpuctl run --user alice -- true
create() { as alice busctl --allow-interactive-authorization=false call org.cgpu1 /org/cgpu1 org.cgpu1.Manager CreateInstance \
    'ssa{ss}a{sv}' abc abc "$@"; }
expect_error "$full" create 1 CGPU_MEM 2GiB 1 dry-run b true
expect_error "$full" create 1 CGPU_MEM 2GiB 2 dry-run b true user u "$(id -u bob)"
expect_error "$full" create 2 CGPU_MEM 2GiB CGPU_OWNER bob 1 dry-run b true
expect_error 'limits of user "bob": only root may' as alice cgpuctl limits bob
as alice cgpuctl limits bob 2>/dev/null
expect_equal "exit code" $? 77

# --- an owner may lower what is its own, and no more
expect as bob cgpuctl set-memory web 1GiB -q
expect as bob cgpuctl pause web -q
expect as bob cgpuctl resume web -q
expect as bob cgpuctl rename web site -q
expect as bob cgpuctl show site >/dev/null
expect_error 'web' cgpuctl show web
train=$(cgpuctl list --json | jq -r '.[] | select(.name == "train").id')
for id in "$train" "${train:0:12}"; do expect_error 'it is the id of instance .*train' as bob cgpuctl rename site "$id"; done
expect_error 'NAME is empty' as bob cgpuctl rename site ''
expect as bob cgpuctl rename site train -q # as alice's is called: each means the own one by it
expect as bob cgpuctl rename train web -q
expect_equal "alice's job" "$(cgpuctl list --json | jq -r '.[] | select(.name == "train").id')" "$train"
right="org.cgpu1.manage-instance"
expect_error "$right" as bob cgpuctl set-memory web 2GiB
expect_error "$right" as bob cgpuctl set-weight web 2
expect_error "$right" as bob cgpuctl set-priority web high
expect_error "$right" as bob cgpuctl revert web
expect_error "$right" as bob cgpuctl set-memory train 1GiB
expect_error "$right" as bob cgpuctl pause train
expect_error "$right" as bob cgpuctl rename train mine
printf 'pause web\npause train\n' >"$scratch/batch"
expect_error "$right" as bob cgpuctl apply "$scratch/batch"
expect_error "$right" as carol cgpuctl pause web
expect_error 'may not signal its process' as bob cgpuctl stop train
expect cgpuctl revert web -q

# --- what is declared
expect quietly ask_as_root box 5GiB CGPU_OWNER alice
printf 'limits: {trust_declared_owners: true}\n' >/etc/cgpu/cgpud.yaml.d/60-trust.yaml
reload
expect_error "alice may have 4GiB in all .*train" ask_as_root box 5GiB CGPU_OWNER alice
expect quietly ask_as_root box 1GiB CGPU_OWNER alice
expect quietly ask_as_root box 10GiB CGPU_OWNER carol
expect_error 'it is a number' ask_as_root box 1GiB CGPU_OWNER 1000
rm /etc/cgpu/cgpud.yaml.d/60-trust.yaml
reload

# --- many ask at once, and the name service hangs for one of them
pid=$(cat "$CGPU_LAB/cgpud.pid")
for _ in {1..25}; do
    asking=()
    for user in carol carol bob alice; do
        as $user cgpuctl limits >/dev/null 2>&1 &
        asking+=($!)
    done
    as alice cgpuctl run --mem 100MiB --dry-run -- true >/dev/null 2>&1 &
    asking+=($!)
    kill -HUP "$pid"
    wait "${asking[@]}"
done
expect kill -0 "$pid"
expect mv /usr/lib/cgpu/cgpu-people /usr/lib/cgpu/cgpu-people.real
finds() { grep -q "$1" <(cgpuctl doctor 2>&1); } # TEXT: of doctor
expect finds "name service .*cgpud gets no answer of it: /usr/lib/cgpu/cgpu-people can't be started"
printf '#!/bin/sh\n[ "$2" = %s ] || [ "$2" = 4294967293 ] && exec sleep 100\nexec /usr/lib/cgpu/cgpu-people.real "$@"\n' "$(id -u carol)" >/usr/lib/cgpu/cgpu-people
expect chmod 755 /usr/lib/cgpu/cgpu-people
reload
asking=()
for _ in {1..40}; do
    as carol cgpuctl limits >/dev/null 2>&1 &
    asking+=($!)
done
expect quietly as alice timeout 4 cgpuctl run --mem 100MiB --dry-run -- true
expect quietly timeout 4 cgpuctl run --mem 100MiB --user root --dry-run -- true
expect_error "user id $(id -u carol): the name service doesn't answer" as carol cgpuctl limits
wait "${asking[@]}"
expect finds "name service .*cgpud gets no answer of it: the name service doesn't answer"
chmod 600 /etc/group
expect mv /usr/lib/cgpu/cgpu-people.real /usr/lib/cgpu/cgpu-people
reload
expect_error 'the name service has (failed|no name for its group)' run alice 100MiB --dry-run -- true
chmod 644 /etc/group
reload

# --- what is in use
limit_of() { cgpuctl limits "$1" --json | jq -r --arg limit "$2" '.limits[] | select(.limit == $limit) | "\(.used) \(.most) \(.key)"'; }
expect_equal "alice's memory" "$(limit_of alice memory)" "$((3 << 30)) $((4 << 30)) limits.groups.students.memory"
expect_equal "bob's GPUs" "$(limit_of bob gpus)" "1 1 limits.users.bob.gpus"
expect_equal "bob's compute" "$(limit_of bob compute)" "5 25 limits.users.bob.compute"
expect grep -qE '^memory +- +4096MiB +3072MiB +1024MiB +limits.groups.students.memory$' <(as alice cgpuctl limits)
expect grep -q '^No limit holds for root.$' <(cgpuctl limits)
expect grep -q '^Limits of alice:$' <(env SUDO_UID="$(id -u alice)" SUDO_GID="$(id -g alice)" cgpuctl limits)
expect_equal "under pkexec" "$(env PKEXEC_UID="$(id -u bob)" cgpuctl limits --json | jq -r .holder)" bob
expect_error 'limits of user .*: only root may' as alice env SUDO_UID="$(id -u bob)" cgpuctl limits bob
expect_error 'the system knows no such user' cgpuctl limits nosuchuser
expect grep -qE '^limits.groups.students.memory +4GiB ' <(cgpuctl config)

# --- a reload changes the limits; what is there stays
limits <<<'limits: {groups: {students: {memory: 2GiB}}, users: {bbo: {gpus: 1}}, default: {instances: 3}}'
reload
expect finds 'name service .*the limits name the user "bbo", and the system knows none of that name'
expect_equal "whose train is" "$(owner train)" alice
expect_error 'alice may have 2GiB in all' run alice 1MiB -- true
expect quietly run bob 5GiB -- true
limits <<<'limits: {groups: {students: {memory: 2Gib x}}}'
expect kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
refused() { cgpuctl status 2>&1 | grep -q 'limits.groups.students.memory'; }
wait_for 10 refused
expect_error 'alice may have 2GiB in all' run alice 1MiB -- true

# --- after a restart they are whose they were
. "$CGPU_LAB/cgpud.sh"
rm /etc/cgpu/cgpud.yaml.d/50-limits.yaml
expect cgpud_as_cgpu
expect_equal "whose train is" "$(owner train)" alice
recorded() { cgpuctl report --by user --json | jq -e '[.rows[].user] | index("alice") and index("bob")' >/dev/null; }
end_job train
end_job web
wait_for 10 none_listed
wait_for 10 recorded

# --- a reservation is its maker's and root's, and its owner's limits hold for what root's engine starts with it
limits <<<'limits: {groups: {students: {memory: 4GiB}}}'
reload
reserve() { as "$1" cgpuctl reserve -q --mem "${@:2}"; } # USER SIZE
# use_as_root TOKEN OPTIONS…: as the runtime of root's engine does, for a container that declares bob.
use_as_root() {
    busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager CreateInstance 'ssa{ss}a{sv}' made made 2 CGPU_RESERVATION "$1" CGPU_OWNER bob "${@:2}"
}
token=$(reserve alice 3GiB) || fail "alice can't reserve"
expect_equal "whose it is" "$(owner reservation)" alice
expect_error 'CGPU_RESERVATION: another user has made it' as bob env CGPU_RESERVATION="$token" cgpuctl run -- true
expect_error 'alice may have 4GiB in all .limits.groups.students.memory., and has 1 instance: reservation' reserve alice 2GiB
expect_error 'org.cgpu1.manage-instance' as bob cgpuctl stop reservation
expect use_as_root "$token" 1 dry-run b true >/dev/null
env CGPU_RESERVATION="$token" cgpuctl run --name container --user bob -- alloc --mib 100 --hold >"$scratch/container.out" 2>&1 </dev/null &
pids[container]=$!
wait_for 60 is_ready container
expect_equal "whose the part stays" "$(owner container)" alice
expect_error 'alice may have 4GiB in all' run alice 2GiB -- true
end_job container
wait_for 10 none_listed
