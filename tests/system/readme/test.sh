# README's examples, as they stand there: each command is read from the file and run, and what it promises is held against the
# ledger of the simulated GPU. Left out are apt, systemctl and man, what never ends (top, cgpu-smi -l), and what needs a booted system
# (doctor, events). A version of the module that exists stands for README's.
. "$(dirname "$0")/../docker/lib.sh"
readme=$(dirname "$0")/../../../README.md

# examples HEADING PATTERN: the commands below this heading that match, without their comments, a line each.
examples() {
    sed -n "/^## $1/,/^## /{/^\`\`\`/,/^\`\`\`/p}" "$readme" | sed 's/ *# .*//' | grep -E "$2" || fail "README has no example of $2 under $1"
}
pids_of() { cgpuctl show "$1" --json | jq -r .pid; }
count() { cgpuctl list -q | wc -l; }
are_listed() { [[ $(count) == "$1" ]]; }
# memory NAME: its limit in MiB.
memory() { cgpuctl show "$1" --json | jq '.gpus[0].memory_limit_bytes / 1048576'; }

echo "Run"
cd "$scratch" || exit 1
printf 'import os\nos.execvp("burn", ["burn", "--forever", "--kernel-us", "1000"])\n' >train.py
printf '#!/bin/sh\nexec burn --forever --kernel-us 1000\n' >serve
chmod +x serve
mapfile -t commands < <(examples Run 'cgpuctl run')
expect_equal "examples of cgpuctl run" "${#commands[@]}" 3
names=(first train served)
for number in 0 1 2; do
    ids=$(cgpuctl list -q)
    bash -c "exec env ${commands[number]}" >"$scratch/${names[number]}.out" 2>"$scratch/${names[number]}.err" </dev/null &
    pids[${names[number]}]=$!
    wait_for 20 is_ready "${names[number]}"
    expect_equal "what it says" "$(cat "$scratch/${names[number]}.err")" ''
    id[number]=$(cgpuctl list -q | grep -vxF "${ids:-none}")
done
expect_equal "limit of the first" "$(memory "${id[0]}")" 4096
expect_equal "limit of train" "$(memory train)" 4096
expect_equal "limit by cGPU's variables" "$(memory "${id[2]}")" 4301
sleep 0.5
expect_shares 5 3 first=25 train=50 served=25

echo "Look"
while read -r command; do
    expect timeout 60 ${command#sudo } >"$scratch/said"
    [[ -s $scratch/said ]] || fail "$command says nothing"
done < <(examples Look '^(sudo )?cgpuctl' | grep -vE 'cgpuctl (top|bench|doctor|report|events)')
expect timeout 60 $(examples Look 'cgpuctl report') >/dev/null

echo "Change, while jobs run"
printf 'set-weight train 2\nset-prio-ratio 0 60\n' >FILE
while read -r command; do
    expect $command >/dev/null
    if [[ $command == *set-weight* ]]; then
        sleep 0.5
        expect_shares 5 3 first=20 train=60 served=20
    fi
    [[ $command != *set-memory* ]] || expect_equal "limit of train" "$(memory train)" 6144
    [[ $command != *set-max-inst* ]] || expect_equal "max_inst" "$(cgpuctl show 0 --json | jq .max_inst)" 10
    [[ $command != *set-priority* ]] || expect_equal "priority" "$(cgpuctl show train --json | jq .gpus[0].high_priority)" true
    [[ $command != *apply* ]] || expect_equal "prio_ratio" "$(cgpuctl show 0 --json | jq .prio_ratio)" 0.6
done < <(examples Change '^cgpuctl' | grep -v set-mode)
for name in "${names[@]}"; do end_job "$name"; done
wait_for 10 none_listed
while read -r command; do expect $command >/dev/null; done < <(examples Change 'set-mode')
expect cgpuctl revert 0
expect $(examples Look 'cgpuctl bench') >"$scratch/bench"

echo "Upgrade, while jobs compute"
own=$(cgpuctl status --json | jq -r .module_version)
next=${own%.*}.$((${own##*.} + 1)) # the version of the test engines, in the place of README's
in_force() { cgpuctl status --json | jq -r .module_version; }
chmod 755 "$scratch"
expect make_bundle "$scratch/bundles" "$CGPU_LAB/engines/next.so" "$next" "$own"
mapfile -t commands < <(examples Upgrade '^cgpuctl' | sed "s/1\.2\.3/$next/g")
expect_equal "examples of upgrades" "${#commands[@]}" 5
job computing --mem 1GiB -- burn --forever --kernel-us 1000
wait_for 20 is_ready computing
for command in "${commands[@]}"; do
    [[ $command != *' add '* ]] || expect tar -C "$scratch/bundles" -cf "${command##* }" "$next"
    if [[ $command == *--cold* ]]; then
        expect cgpuctl upgrade --hot "$own" -q
        end_job computing
        wait_for 10 none_listed
    fi
    expect timeout 60 $command >"$scratch/said"
    [[ $command != 'cgpuctl module list' ]] || expect has "$scratch/said" "$own"
    [[ $command != *upgrade* ]] || expect_equal "in force after $command" "$(in_force)" "$next"
    [[ $command != *--hot* ]] || expect_equal "what the job runs" "$(cgpuctl show computing --json | jq -r .module_version)" "$next"
done
expect cgpuctl upgrade --cold "$own" -q

echo "Containers"
expect $(examples Containers 'runtime configure') >/dev/null
printf 'FROM lab\nCMD ["burn", "--forever", "--kernel-us", "1000"]\n' | docker build -q -t image - >/dev/null 2>&1 || fail "no image"
mapfile -t commands < <(examples Containers 'docker run')
expect_equal "examples of docker run" "${#commands[@]}" 2
names=(whole quarter)
for number in 0 1; do
    # In the background, and with a name, so that it can be found; the image's name has to be one of Docker's.
    command=${commands[number]/docker run/docker run -d --name ${names[number]}}
    expect ${command/IMAGE/image} >/dev/null
    find_pid "${names[number]}"
    wait_for 20 container_is_ready "${names[number]}"
    expect_equal "what it says on stderr" "$(docker logs "${names[number]}" 2>&1 >/dev/null)" ''
done
expect_equal "limits" "$(memory whole) $(memory quarter)" '4301 4096'
sleep 0.5
echo "25 % of the compute is 25 % of it, and the other one has the rest"
expect_shares 5 3 whole=75 quarter=25

echo "where the policy ignores the part, the container's first line says so"
expect cgpuctl set-policy 0 preemptive
command=${commands[1]/docker run/docker run --rm}
docker rm -f quarter >/dev/null
${command/IMAGE/image} true >"$scratch/out" 2>"$scratch/err" || fail "it did not start: $(cat "$scratch/err")"
grep -qE '^cgpu: warning: GPU 0 .*: 25% of the compute has no effect under policy preemptive\. Try: cgpuctl set-policy 0 proportional\.$' "$scratch/err" ||
    fail "it says: $(cat "$scratch/err")"
expect_equal "standard output" "$(cat "$scratch/out")" ''
expect docker rm -f whole >/dev/null
wait_for 10 none_listed
