# cgpuctl stop of what the caller may not signal: by cgpud, where the site lets it signal processes (kill.conf), with polkit's consent.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/polkit_lib.sh"
find_polkit
chmod 755 "$scratch"
for name in alice bob; do expect useradd --no-create-home --shell /bin/bash $name; done
as() { setpriv --reuid="$1" --regid="$1" --init-groups "${@:2}"; }
asks=(CGPU_MEM=1GiB)
expect cgpud_as_cgpu
start_polkit
mkdir -p $rules
cat >$rules/10-cgpu-test.rules <<'TEXT'
polkit.addRule(function(action, subject) {
    if (action.id == "org.cgpu1.run") return polkit.Result.YES;
    if (action.id == "org.cgpu1.manage-instance" && subject.user == "bob") return polkit.Result.YES;
});
TEXT
expect chmod u+s /usr/lib/cgpu/cgpu-enter
wait_for 10 quietly as alice cgpuctl run --mem 1GiB -- true
# start USER NAME COMMAND…
start() {
    setpriv --reuid="$1" --regid="$1" --init-groups cgpuctl run --mem 1GiB --name "$2" -- "${@:3}" >"$scratch/$2.out" 2>"$scratch/$2.err" </dev/null &
    pids[$2]=$!
    wait_for 20 is_ready "$2"
}
path() { busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindInstance s "$1" | cut -d'"' -f2; }
stop_on_bus() { # USER NAME GRACE OPTIONS…
    as "$1" busctl --allow-interactive-authorization=false call org.cgpu1 "$(path "$2")" org.cgpu1.Instance Stop 'ua{sv}' "${@:3}"
}

echo "Without kill.conf nobody is asked for a password."
start alice train alloc --mib 100 --hold
expect_error 'Unsupported|cgpud may not signal .* Try: give cgpud CAP_KILL by kill.conf' stop_on_bus bob train 0 0
expect_error 'cgpud may not signal' stop_on_bus root train 0 0
expect_error 'train: user bob may not signal its process [0-9]+, which is of alice\. Try: sudo cgpuctl stop train, or let cgpud do it by kill.conf, see cgpud\(8\)\.' \
    as bob cgpuctl stop train
as bob cgpuctl stop train 2>/dev/null
expect_equal "exit code" $? 77
expect kill -0 "${pids[train]}"

echo "With it, who may manage instances stops another user's."
expect cgpud_as_cgpu --inh-caps=+kill --ambient-caps=+kill
wait_for 10 quietly as bob cgpuctl stop train --dry-run
expect grep -q 'train: it could be stopped by cgpud: .*; nothing was changed' <(as bob cgpuctl stop train --dry-run)
expect kill -0 "${pids[train]}"
start root mine alloc --mib 100 --hold
expect_error 'mine: user alice may not signal its process [0-9]+, which is of root\. Try: sudo cgpuctl stop mine\.' as alice cgpuctl stop mine
expect kill -0 "${pids[mine]}"
expect as bob cgpuctl stop train >"$scratch/stop.out"
expect has "$scratch/stop.out" '^train: stopped; cgpud has sent the signals\.$'
wait "${pids[train]}"
expect_equal "exit status of a job that obeys" $? 0
expect kill -0 "${pids[mine]}"

echo "What takes no notice of SIGTERM is killed after the grace."
start alice deaf bash -c 'trap "" TERM; alloc --mib 100 --hold & echo ready; while :; do sleep 1; done'
expect_error 'grace 86401' stop_on_bus root deaf 86401 0
expect_error 'generation 1:' stop_on_bus root deaf 1 1 if-generation t 1
SECONDS=0
expect as bob cgpuctl stop deaf mine --grace 2 >"$scratch/stop.out"
expect_between "seconds" "$SECONDS" 2 15
expect has "$scratch/stop.out" '^deaf: stopped; cgpud has sent the signals\.$'
expect has "$scratch/stop.out" '^mine: stopped; cgpud has sent the signals\.$'
expect none_listed
wait_for 5 nothing_held

echo "An owner needs no more than the right to the own, and reaches nothing with it that runs as another user."
start alice own alloc --mib 100 --hold
expect grep -q '^au 1 ' <(stop_on_bus alice own 5 1 dry-run b true)
expect_error "org.cgpu1.manage-instance" stop_on_bus alice "$(start root box alloc --mib 100 --hold && echo box)" 0 0
expect quietly stop_on_bus alice own 5 0
wait "${pids[own]}"
expect_equal "exit status" $? 0
start alice mixed bash -c 'alloc --mib 100 --hold & echo ready; wait'
two_in_mixed() { (($(cgpuctl ps mixed --no-legend | wc -l) == 2)); }
wait_for 20 two_in_mixed
cp /usr/bin/setpriv "$scratch/become_root" && chmod 4755 "$scratch/become_root"
start alice switched "$scratch/become_root" --reuid=0 alloc --mib 100 --hold
expect_error "its process [0-9]+ doesn't run as its owner" stop_on_bus alice switched 0 0
expect quietly stop_on_bus bob switched 0 0
expect quietly cgpuctl stop mixed box -q
wait_for 20 none_listed
