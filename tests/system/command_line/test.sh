# The command line: help, typos, several instances at once, another machine over ssh, completion in the shells.
. "$(dirname "$0")/../lib.sh"

echo "Help and version."
expect_equal "version" "$(cgpuctl version)" "$(cgpuctl --version)"
expect_equal "-V" "$(cgpuctl -V)" "$(cgpuctl --version)"
expect_equal "help" "$(cgpuctl help)" "$(cgpuctl --help)"
expect_equal "help of a verb" "$(cgpuctl help set-weight)" "$(cgpuctl set-weight --help)"

for name in web db; do
    job $name --mem 1GiB -- alloc --mib 100 --hold
    wait_for 20 is_ready $name
done

echo "A typo is refused with what was meant."
expect_error 'no such verb\. Try: cgpuctl set-policy\.' cgpuctl set-polcy 0 weighted
expect_error 'Try: cgpuctl set-policy 0 weighted\.' cgpuctl set-policy 0 wieghted
expect_error 'Try: name "web" if that is meant' cgpuctl set-weight wbe 2
expect_error 'no such action\. Try: cgpuctl module list\.' cgpuctl module lst
installed=$(cgpuctl status --json | jq -r .module_version)
near=${installed%.*}.$((${installed##*.} + 1))
expect_error "is not installed\. Try: cgpuctl module show $installed\." cgpuctl module show "$near"
cgpuctl upgrade --cold "$near" 2>/dev/null
expect_equal "exit status of a version that is not installed" $? 3

expect_error 'no such option\. Try: --mem\.' cgpuctl run --memory 1GiB -- true
expect_error 'no such option\. Try: --mem\.' cgpuctl run -m 1GiB -- true

echo "What is empty, as an unset variable makes it, is not the same as nothing."
for value in '' ' '; do
    expect_error 'CGPU_MEM="": it is empty\. Try: .*CGPU_DISABLE=1' env CGPU_MEM="$value" cgpuctl run -- true
    expect_error 'CGPU_GPUS="": it is empty\. Try: ' env CGPU_GPUS="$value" cgpuctl run --mem 1GiB -- true
    expect_error '\-\-mem is empty\. Try: .*CGPU_DISABLE=1' cgpuctl run --mem "$value" -- true
    expect env CGPU_MEM="$value" CGPU_DISABLE=1 cgpuctl run -- true
done

echo "GPUs by what NVIDIA's programs take; sizes as Kubernetes writes them; units of the device plugin."
uuid=$(cgpuctl status --json | jq -r '.gpus[0].uuid')
pci=$(python3 - <<'PYTHON'
import ctypes
nvml, device, pci = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p(), ctypes.create_string_buffer(68)
nvml.nvmlInit_v2()
nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
nvml.nvmlDeviceGetPciInfo_v3(device, pci)
print(pci.raw[36:].split(b"\0")[0].decode())
PYTHON
)
for gpu in "${uuid:0:12}" "GPU-$(tr a-f A-F <<<"${uuid:4:10}")" "$pci" "${pci#0000}" ' 0 , ' 0,; do
    expect_equal "GPU $gpu" "$(CGPU_GPUS=$gpu cgpuctl run --mem 1Gi -- sh -c 'echo $NVIDIA_VISIBLE_DEVICES')" "$uuid"
done
expect_error 'there is no such GPU on this node' cgpuctl set-policy GPU-ffffffff fair-share
expect_equal "a GPU by a prefix" "$(cgpuctl show "${uuid:0:12}" --json | jq -r .uuid)" "$uuid"
expect_equal "a GPU by its PCI address" "$(cgpuctl show "$pci" --json | jq -r .uuid)" "$uuid"
expect cgpuctl set-policy "$pci" "$(cgpuctl show 0 --json | jq -r .policy_name)" -q
mib=(ALIYUN_COM_GPU_MEM_CONTAINER=2048 ALIYUN_COM_GPU_MEM_DEV=16130)
for unit in MiB ''; do
    expect_equal "the limit" "$(env "${mib[@]}" ALIYUN_COM_GPU_MEM_UNIT=$unit cgpuctl run -- info |
        sed -n 's/^device.0.total_mem //p')" $((2 << 30))
done
expect_equal "the unit of what a job sees" "$(env "${mib[@]}" ALIYUN_COM_GPU_MEM_UNIT=MiB cgpuctl run -- \
    sh -c 'echo $ALIYUN_COM_GPU_MEM_CONTAINER $ALIYUN_COM_GPU_MEM_DEV $ALIYUN_COM_GPU_MEM_UNIT')" '1 15'
id=$(cgpuctl show web --json | jq -r .id)
expect_equal "three characters of an id" "$(cgpuctl show "${id:0:3}" --json | jq -r .id)" "$id"

echo "Names count in any case, options before the verb too."
expect cgpuctl -q set-policy 0 WEIGHTED
expect_equal "policy" "$(cgpuctl show 0 --json | jq -r .policy_name)" weighted
expect cgpuctl set-priority Web HIGH -q
expect_equal "priority" "$(cgpuctl show web --json | jq .gpus[0].high_priority)" true

echo "Several instances at once are changed as one."
weights() { cgpuctl list --json | jq -cS '[.[] | {(.name): .gpus[0].weight}] | add'; }
expect_equal "answers" "$(cgpuctl set-weight web db 3 | sort)" "$(printf '%s\n' \
    'Instance db: weight 3 is set, until the instance ends.' 'Instance web: weight 3 is set, until the instance ends.')"
expect_equal "weights" "$(weights)" '{"db":3,"web":3}'
expect_error 'none of the instances was changed\. Try: ' cgpuctl set-weight web nobody 4
expect_equal "weights" "$(weights)" '{"db":3,"web":3}'
# Each of the two weights has room by itself, and both together have not.
expect cgpuctl set-weight web 14 -q
expect cgpuctl set-weight web 3 -q
expect_error 'weight 14 for instance .*: .*; none of the instances was changed\. Try: ' cgpuctl set-weight web db 14
expect_equal "weights" "$(weights)" '{"db":3,"web":3}'
generation=$(cgpuctl describe | jq .generation)
expect cgpuctl set-weight web db 2 --if-generation "$generation" -q
expect_error 'the node has changed since then' cgpuctl set-weight web 4 --if-generation "$generation"
expect_error 'the node has changed since then' cgpuctl set-policy 0 fixed --if-generation "$generation"
expect_equal "weights" "$(weights)" '{"db":2,"web":2}'

echo "Another machine: systemd's bridge over ssh, for which a program stands that runs it here."
mkdir "$scratch/bin"
cat >"$scratch/bin/ssh" <<'SSH'
#!/bin/bash
echo "$*" >>"${0%/*}/calls"
while [[ $1 == -* ]]; do shift; done
[[ $1 != *unknown ]] || { echo "ssh: Could not resolve hostname $1" >&2; exit 255; }
shift
exec "$@"
SSH
chmod +x "$scratch/bin/ssh"
remote() { PATH="$scratch/bin:$PATH" cgpuctl "$@"; }
expect_equal "list over ssh" "$(remote -H root@there list -q | sort)" "$(cgpuctl list -q | sort)"
expect has "$scratch/bin/calls" 'root@there systemd-stdio-bridge'
expect remote set-weight web 4 -q --host there
expect_equal "weights" "$(weights)" '{"db":2,"web":4}'
expect_error 'unknown: its system bus can.t be reached over ssh .*Try: ssh unknown systemd-stdio-bridge' remote -H unknown status
remote -H unknown status 2>/dev/null
expect_equal "exit status of a machine that can't be reached" $? 101
expect_error 'works on this machine only\. Try: ssh there cgpuctl doctor\.' remote -H there doctor
expect_error 'ssh would take it for an option' remote -H -oProxyCommand=false status

echo "One error has one exit code, whichever verb meets it."
code_of() { "$@" >/dev/null 2>&1 </dev/null; echo $?; }
for call in 'set-policy 9 weighted' 'set-max-inst 9 4' 'show 9' 'show GPU-99999999' 'bench 9' 'trace 9 -o /dev/null' 'why web --gpu 9' \
    'set-weight web 2 --gpu 9' 'revert 9' 'run --mem 1GiB --gpus 9 -- true' 'run --mem 1GiB --gpus x -- true' 'set-policy x weighted' \
    'events --gpu x' 'show nobody' 'why nobody' 'set-memory nobody 1GiB' 'forget nobody' 'upgrade --hot 9.9.9' 'module show 9.9.9'; do
    # shellcheck disable=SC2086
    expect_equal "exit code of cgpuctl $call" "$(code_of cgpuctl $call)" 3
done
expect_equal "exit code of cgpu-smi -i 9" "$(code_of cgpu-smi -i 9)" 3
for call in 'set-policy 0 nosuch' 'set-max-inst 0 99' 'set-max-inst 0 x' 'set-prio-ratio 0 5' 'set-weight web 99' 'set-weight web 0%' \
    'set-weight web 101%' 'set-weight web x' 'set-priority web nosuch' 'set-memory web 5' 'run --mem 5 -- true' 'run --mem 1GiB --weight 99 -- true' \
    'run --mem 1GiB --compute 101% -- true' 'bench 0 --weights 99' 'set-mode nosuch' 'upgrade --hot x' 'module show x' 'events --type nosuch'; do
    # shellcheck disable=SC2086
    expect_equal "exit code of cgpuctl $call" "$(code_of cgpuctl $call)" 2
    [[ $call == set-* && $call != set-mode* ]] || continue
    echo "$call" >"$scratch/batch"
    expect_equal "exit code of $call in a batch" "$(code_of cgpuctl apply "$scratch/batch")" 2
done
for call in 'set-weight web 33%' 'run --mem 1GiB --compute 33% -- true' 'set-memory web 9999GiB' 'run --mem 9999GiB -- true'; do
    # shellcheck disable=SC2086
    expect_equal "exit code of cgpuctl $call" "$(code_of cgpuctl $call)" 4
done

echo "A weight may be a percentage, which follows max_inst; all GPUs are all."
expect_equal "a percentage" "$(cgpuctl set-weight web 25%)" "Instance web: 25% of the compute is set, until the instance ends."
part_of_web() { cgpuctl show web --json | jq -c '[.gpus[0].weight, .gpus[0].asked_share]'; }
expect_equal "weight and part of 20" "$(part_of_web)" '[5,0.25]'
expect cgpuctl set-max-inst 0 24 -q
expect_equal "weight and part of 24" "$(part_of_web)" '[6,0.25]'
echo 'set-weight web 50%' | expect cgpuctl apply -q
expect_equal "weight and part by a batch" "$(part_of_web)" '[12,0.5]'
expect_error 'no whole number of the 24 slices.*a multiple of 25%' cgpuctl set-weight web 33%
expect_error "a percentage can't be kept" cgpuctl set-weight web 25% --persist
expect cgpuctl set-weight web 2 -q
expect_equal "weight and part after a number" "$(part_of_web)" '[2,null]'
every=$(cgpuctl status --json | jq -r '[.gpus[].uuid] | join(",")')
expect_equal "all GPUs" "$(cgpuctl run --mem 1GiB --gpus all -- sh -c 'echo $NVIDIA_VISIBLE_DEVICES')" "$every"
expect_equal "an image's all" "$(NVIDIA_VISIBLE_DEVICES=all cgpuctl run --mem 1GiB -- sh -c 'echo $NVIDIA_VISIBLE_DEVICES' | tr -cd , | wc -c)" 0

echo "Bytes that aren't UTF-8 are refused with the name of the thing, or made valid: no text is the bus's own."
b=$'caf\xe9'
job "$b" --mem 1GiB -- alloc --mib 10 --hold
wait_for 20 is_ready "$b"
said_of() { "$@" 2>&1 </dev/null | tee "$scratch/said" >/dev/null; }
for call in "set-policy $b weighted" "set-policy 0 $b" "set-weight $b 2 --json" "set-weight $b 25% --json" "set-weight $b 2 --gpu $b" \
    "set-priority $b normal --json" "set-memory $b 2GiB --json" "show $b --json" "why $b --seconds 1 --json" "list --json" 'describe' 'inspect -d' \
    "forget $b" "revert $b" "revert $b$b" "upgrade --hot $b" "set-mode $b" "events --gpu $b" "trace $b -o /dev/null" "bench $b" \
    "run --mem $b -- true" "run --mem 1GiB --gpus $b -- true" "run --mem 1GiB -- /nonexistent/$b" "config check $b" "apply $b" "module show $b" \
    "module add $b" "$b" "--$b"; do
    # shellcheck disable=SC2086
    said_of cgpuctl $call
    ! grep -qaiE 'serializ|Invalid argument|EINVAL|exception|terminate|System\.Error|D-?Bus' "$scratch/said" || fail "cgpuctl $call: $(cat "$scratch/said")"
    [[ $call != *--json ]] || jq -e . "$scratch/said" >/dev/null || fail "cgpuctl $call is no JSON: $(cat "$scratch/said")"
done
for name in CGPU_MEM CGPU_GPUS CGPU_WEIGHT CGPU_PRIO CGPU_MODE ALIYUN_COM_GPU_MEM_CONTAINER; do
    expect_error "$name=\"caf.xe9\": .*Try: |$name.*caf.*Try: " env CGPU_MEM=1GiB "$name=$b" cgpuctl run -- true
done
expect has <(cgpuctl list --json | jq -r '.[].name') $'^caf\xef\xbf\xbd$'
# A file of the configuration, and what is wrong in it.
mkdir -p /etc/cgpu/cgpud.yaml.d
printf 'policy: "%s"\n%s: 1\n' "$b" "$b" >"/etc/cgpu/cgpud.yaml.d/$b.yaml"
kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
wait_for 10 eval 'cgpuctl status 2>&1 | grep -q "the files were refused"'
expect_equal "the file" "$(cgpuctl status --json | jq -r '[.configuration_problems[]?.file, .warnings[]?] | map(select(test("caf"))) | length > 0')" true
expect has <(cgpuctl doctor 2>&1) $'caf\xef\xbf\xbd.yaml:1'
expect iconv -f utf-8 -t utf-8 <(lab-log) >/dev/null
! in_log 'serializ|the daemon failed' || fail "$(lab-log | tail -3)"
rm "/etc/cgpu/cgpud.yaml.d/$b.yaml"
kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
wait_for 10 eval '! cgpuctl status 2>&1 | grep -q "the files were refused"'
end_job "$b"

echo "Completion."
export LC_ALL=C
bash_words() { # the words for a line that ends at the cursor
    bash -c '. /usr/share/bash-completion/completions/cgpuctl; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cgpuctl
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | xargs
}
completes() { # SHELL…: by the function of this shell
    expect_equal "verbs in $1" "$("$1_words" cgpuctl set-p)" 'set-policy set-prio-ratio set-priority'
    expect_equal "policies in $1" "$("$1_words" cgpuctl set-policy 0 w)" weighted
    expect_equal "instances in $1" "$("$1_words" cgpuctl set-weight w)" web
    expect_equal "options in $1" "$("$1_words" cgpuctl list --k)" --kept
    touch "$scratch/some.yaml"
    expect_equal "files in $1" "$("$1_words" cgpuctl runtime configure --file "$scratch/som")" "$scratch/some.yaml"
}
completes bash
if command -v fish >/dev/null; then
    fish_words() { fish -c 'source /usr/share/fish/vendor_completions.d/cgpuctl.fish; complete -C "$argv"' "$*" | cut -f 1 | sort | xargs; }
    completes fish
else
    echo "fish is not installed: not tried."
fi
if command -v zsh >/dev/null; then
    # What zsh's own functions would be given.
    zsh_words() {
        zsh -fc 'compdef() { : }; _call_program() { shift; eval "$@" }; _files() { print -l -- "${words[CURRENT]}"*(N) }
            _describe() { print -l -- "${(@)${(P)3}%%:*}" }
            source /usr/share/zsh/vendor-completions/_cgpuctl; words=("$@"); CURRENT=$#; _cgpuctl' zsh "$@" | sort | xargs
    }
    completes zsh
else
    echo "zsh is not installed: not tried."
fi
for name in web db; do end_job $name; done
