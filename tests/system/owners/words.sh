# Which instance a word means where several users have instances: the own one first, and nobody changes another user's by a word that
# only resembles it.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/polkit_lib.sh"
find_polkit
chmod 755 "$scratch"
for user in alice bob; do expect useradd --no-create-home --shell /bin/bash $user; done
expect cgpud_as_cgpu
start_polkit
mkdir -p $rules
cat >$rules/10-cgpu-test.rules <<'TEXT'
polkit.addRule(function(action, subject) {
    if (action.id == "org.cgpu1.run" || subject.user == "bob") return polkit.Result.YES; // bob may change everything
});
TEXT
expect chmod u+s /usr/lib/cgpu/cgpu-enter
as() { setpriv --reuid="$1" --regid="$1" --init-groups "${@:2}"; }
wait_for 10 quietly as alice cgpuctl run --mem 1GiB -- true
# hold USER NAME: a job that stays. Its output is of the user and the name, because two have the same.
hold() {
    setpriv --reuid="$1" --regid="$1" --init-groups cgpuctl run --mem 1GiB --name "$2" -- alloc --mib 100 --hold \
        >"$scratch/$1.$2.out" 2>&1 </dev/null &
    pids[$1.$2]=$!
    wait_for 60 is_ready "$1.$2"
}
limit_of() { cgpuctl list --json | jq -r --arg user "$(id -u "$1")" --arg name "$2" \
    '.[] | select(.owner == ($user | tonumber) and .name == $name) | .gpus[0].memory_limit_bytes / 1048576'; }

echo "A name that two users have means the own one; root has to say which."
hold alice train
hold bob train
expect as alice cgpuctl set-memory train 900MiB -q
expect as bob cgpuctl set-memory train 800MiB -q
expect_equal "alice's and bob's" "$(limit_of alice train) $(limit_of bob train)" "900 800"
expect grep -qE '^Owner: +alice' <(as alice cgpuctl show train)
expect_error "several instances are meant.*user id $(id -u alice).*user id $(id -u bob)|user id $(id -u bob).*user id $(id -u alice)" \
    cgpuctl set-memory train 700MiB
expect_error 'several instances are meant' cgpuctl stop train
expect as alice cgpuctl stop train -q
expect_equal "bob's" "$(limit_of bob train)" 800

echo "What only resembles another user's instance is none that a change or an end is for."
hold alice Render
id=$(cgpuctl list --json | jq -r '.[] | select(.name == "Render").id')
resembles="no instance has this name or id, and the one that resembles it is another user's. Try: name ${id:0:12} "
for word in render "${id:0:5}"; do
    for user in root bob; do
        expect_error "$resembles" as $user cgpuctl stop "$word"
        expect_error "$resembles" as $user cgpuctl pause "$word"
        expect_error "$resembles" as $user cgpuctl set-memory "$word" 500MiB --persist
        as $user cgpuctl set-weight "$word" 3 2>/dev/null
        expect_equal "exit code" $? 3
    done
    expect quietly as bob cgpuctl show "$word"
    expect as alice cgpuctl set-memory "$word" 900MiB -q
done
echo 'set-memory render 500MiB' >"$scratch/batch"
expect grep -q 'there is no such instance; it is left out' <(as bob cgpuctl apply --skip-missing "$scratch/batch" 2>&1)
expect as bob cgpuctl set-memory Render 600MiB -q
expect_equal "Render" "$(limit_of alice Render)" 600
expect cgpuctl stop "${id:0:12}" -q
expect as bob cgpuctl stop train -q
wait_for 10 none_listed
