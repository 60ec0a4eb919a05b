# What docs/cgpuctl.md says of how a site takes org.cgpu1.manage-own away, which everybody has by default: by a rule of polkit in
# JavaScript, and by a .pkla for polkit 0.105, as far as that is here.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/polkit_lib.sh"
chmod 755 "$scratch"
let_user_run
own=/etc/polkit-1/rules.d/40-cgpu-own.rules
# block WORD: the block of the page that has it.
block() { awk -v word="$1" '/^```/ {if (shown && has) printf "%s", text; text = ""; has = 0; shown = !shown; next} shown {text = text $0 "\n"; if (index($0, word)) has = 1}' \
    "$here/../../../docs/cgpuctl.md"; }

as_user cgpuctl run --mem 1GiB --name mine -- alloc --mib 100 --hold >"$scratch/mine.out" 2>"$scratch/mine.err" </dev/null &
pids[mine]=$!
wait_for 20 is_ready mine
expect as_user cgpuctl pause mine -q
expect as_user cgpuctl resume mine -q

echo "Taken away by a rule"
block '40-cgpu-own.rules' >"$own"
expect grep -q org.cgpu1.manage-own "$own"
refused() { ! quietly as_user cgpuctl pause mine; }
wait_for 10 refused
expect_error "without an administrator's password .polkit's org.cgpu1.manage-own." as_user cgpuctl pause mine
expect_error 'manage-own' as_user cgpuctl set-memory mine 900MiB
expect cgpuctl pause mine -q
expect cgpuctl resume mine -q
expect as_user cgpuctl list -q
allow org.cgpu1.manage-instance # which implies it, and the rule doesn't take that away
wait_for 10 quietly as_user cgpuctl pause mine
rm "$own"
allow org.cgpu1.run
wait_for 10 quietly as_user cgpuctl resume mine
expect as_user cgpuctl stop mine -q
wait_for 10 none_listed

echo "Taken away by a .pkla"
check=$(PATH=$PATH:/usr/sbin command -v pkla-check-authorization)
if [[ -x $check ]]; then
    mkdir -p "$scratch/pkla/50-local.d"
    block '50-cgpu.pkla' >"$scratch/pkla/50-local.d/50-cgpu.pkla"
    for local in true false; do
        expect_equal "what it says" "$("$check" -p "$scratch/pkla" $user $local true org.cgpu1.manage-own)" auth_admin
        expect_equal "of another action" "$("$check" -p "$scratch/pkla" $user $local true org.cgpu1.run)" ''
    done
else
    echo "pkla-check-authorization (the package polkitd-pkla) is not installed: the .pkla is not tried"
fi
