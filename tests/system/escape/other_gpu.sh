# A job that takes memory from a GPU that isn't its own, without the module: it is found, shown, and then on_escape is
# applied, whether it has connected for its own GPU or not. A process of no instance is left alone.
. "$(dirname "$0")/../lib.sh"

other=$(cgpuctl status --json | jq -r '.gpus[1].uuid')
# outside NAME: host pids, in brackets.
outside() {
    cgpuctl list --json | jq -c --arg name "$1" '.[] | select(.name == $name) | [.gpus[], .foreign_gpus[] | .processes_outside[]]'
}
# shown NAME: its one foreign GPU, as INDEX BYTES PIDS.
shown() {
    cgpuctl list --json | jq -r --arg name "$1" \
        '.[] | select(.name == $name).foreign_gpus[] | "\(.index) \(.memory_used_bytes) \(.processes_outside | join(","))"'
}
is_shown() { # NAME: with the bytes that the ledger has for it
    [[ $(shown "$1") == "1 $(held "${pids[$1]}" 1) ${pids[$1]}" ]]
}
# other_used: what the other GPU's figure is in cgpuctl.
other_used() { cgpuctl status --json | jq -r '.gpus[1].memory_used_bytes'; }
told_of() { # PID
    in_log "process $1: uses $other, which isn't the instance's, outside the module"
}
gone() { # PID
    ! kill -0 "$1" 2>/dev/null
}

# Of no instance: ignored.
alloc --device 1 --mib 1000 --hold >"$scratch/nobodys" &
nobodys=$!
for word in report kill; do
    mkdir -p /etc/cgpu/cgpud.yaml.d
    echo "on_escape: $word" >/etc/cgpu/cgpud.yaml.d/escape.yaml
    expect lab-restart-cgpud
    for number in 0 1; do
        job "honest$number" --gpus "$number" --mem 2GiB -- alloc --mib 512 --hold
        wait_for 20 is_ready "honest$number"
    done
    for known in '' --connected; do
        name=thief$known
        job "$name" --gpus 0 --mem 1GiB -- env -u CUDA_VISIBLE_DEVICES escape --device 1 --mib 1000 $known
        if [[ $word == report ]]; then
            wait_for 20 is_ready "$name"
            wait_for 5 is_shown "$name"
            wait_for 5 told_of "${pids[$name]}"
            expect has <(cgpuctl list) "$name +[^ ]+ +1 +[0-9.]+MiB \\(not its GPU: 1 process outside the module\\)"
            expect has <(cgpuctl show "$name") "^Not its GPU: +1 \\($other\\)"
            expect has <(cgpuctl show "$name") "^Outside the module: +${pids[$name]}"
            # Beside it there is the honest job of that GPU only.
            expect_equal "memory used on the other GPU" "$(other_used)" \
                $(($(held "${pids[$name]}" 1) + $(held "${pids[honest1]}" 1)))
            end_job "$name"
        else
            wait_for 20 gone "${pids[$name]}"
            wait "${pids[$name]}"
            expect_equal "exit status of $name" $? 137
        fi
    done
    for name in honest0 honest1; do
        expect is_ready "$name"
        expect_equal "processes of $name outside the module" "$(outside "$name")" '[]'
        end_job "$name"
    done
    wait_for 10 none_listed
done
expect kill "$nobodys" # it is still there
