# docs/team.md as it is written: its groups, its rule of polkit and its YAML, and what its users do then.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../bus/polkit_lib.sh"
page=$here/../../../docs/team.md
find_polkit
chmod 755 "$scratch"
# block N: the page's N-th block, from 1.
block() { awk -v wanted="$1" '/^```/ {inside = !inside; number += inside; next} inside && number == wanted' "$page"; }
for user in alice bob; do expect useradd --no-create-home --shell /bin/bash $user; done
expect bash -e <(block 1 | sed 's/^sudo //')
mkdir -p $rules /etc/cgpu/cgpud.yaml.d
block 2 >$rules/50-cgpu.rules
block 3 >/etc/cgpu/cgpud.yaml.d/50-team.yaml
expect_between "lines of YAML" "$(wc -l </etc/cgpu/cgpud.yaml.d/50-team.yaml)" 5 15
expect cgpuctl config check /etc/cgpu/cgpud.yaml.d/50-team.yaml
expect cgpud_as_cgpu
start_polkit
expect chmod u+s /usr/lib/cgpu/cgpu-enter
as() { setpriv --reuid="$1" --regid="$1" --init-groups "${@:2}"; }
wait_for 10 quietly as alice cgpuctl run --profile notebook -- true

setpriv --reuid=alice --regid=alice --init-groups cgpuctl run --profile notebook --name jupyter -- alloc --mib 100 --hold \
    >"$scratch/jupyter.out" 2>"$scratch/jupyter.err" </dev/null &
pids[jupyter]=$!
wait_for 60 is_ready jupyter
expect_equal "GPU memory of the notebook" "$(cgpuctl list --json | jq '.[0].gpus[0].memory_limit_bytes')" $((3 << 30))
# The refusal is the one that the page shows.
said=$(as alice cgpuctl run --mem 4GiB -- python3 train.py 2>&1)
expect_equal "the refusal" "$said" "$(block 6 | tail -n 1)"
expect quietly as alice cgpuctl limits
expect quietly as bob cgpuctl run --profile training -- true
expect quietly as bob cgpuctl run --profile training --gpus 0,1 -- true
expect_error '7GiB with CGPU_PROFILE="notebook": the profile allows 6GiB' as bob cgpuctl run --profile notebook --mem 7GiB -- true
expect grep -qE '^memory .* limits.groups.students.memory$' <(cgpuctl limits alice)
expect_equal "what bob may have" "$(cgpuctl limits bob --json | jq '.limits[] | select(.limit == "memory").most')" null
expect quietly cgpuctl report --by user --since 7d
end_job jupyter
