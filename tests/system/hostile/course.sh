# The course of a job's work, to fractions of a second, is for root and for who may trace: everybody else gets figures that are
# renewed once a second, however often they are read. Their rates are right all the same.
. "$(dirname "$0")/../lib.sh"

as_user() { setpriv --reuid="$1" --regid=65534 --clear-groups "${@:2}"; }
job works --mem 1GiB -- burn --forever --kernel-us 3000 --pace-us 20000
wait_for 20 is_ready works
id=$(cgpuctl show works --json | jq -r .id)
object=$(busctl --json=short call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindInstance s "$id" | jq -r '.data[0]')
works() { (($(cgpuctl show works --json | jq '.gpus[0].gpu_time_seconds * 1000 | floor') > 0)); }
wait_for 20 works

# read_for USER HALF_SECONDS OBJECT INTERFACE METHOD: what is answered, a line for each call.
read_for() {
    local end=$((${EPOCHREALTIME/./} + $2 * 500000))
    while ((${EPOCHREALTIME/./} < end)); do
        as_user "$1" busctl call org.cgpu1 "$3" "$4" "$5" 2>"$scratch/said" || fail "$5 of user $1 by $4 at $3: $(<"$scratch/said")"
    done
}
# times FILE: how many different GPU times it has.
times() { grep -oE '"gpu-time" (t )?[0-9]+|gpu_time_seconds[^,]+' "$1" | sort -u | wc -l; }
for call in "/org/cgpu1 org.cgpu1.Manager GetUsage" "$object org.cgpu1.Instance GetUsage" "/org/cgpu1 org.cgpu1.Manager Describe"; do
    # shellcheck disable=SC2086
    read_for 1000 5 $call >"$scratch/read" # 2.5 s
    expect_between "calls of a user" "$(wc -l <"$scratch/read")" 10 100000
    expect_between "different figures for a user in 2.5 s, by $call" "$(times "$scratch/read")" 2 4
    # shellcheck disable=SC2086
    read_for 0 2 $call >"$scratch/read"
    expect_between "different figures for root in a second, by $call" "$(times "$scratch/read")" 5 100000
done

# What clients compute of them: 3 ms of each 23 or so are worked.
share_for() { as_user "$1" cgpuctl why works --seconds 3 --json | jq '[.. | .share_got? | numbers][0]'; }
root=$(share_for 0)
user=$(share_for 1000)
echo "the share by root's figures: $root, by a user's: $user"
expect_between "the share by a user's figures, against root's" "$(jq -n "$user / $root")" 0.6 1.5
end_job works
