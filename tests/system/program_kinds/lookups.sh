# Whatever name, version and flags are looked up: what the front has a hook for is the front's, all else the driver's own,
# and what the driver lacks is not there.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../../.." && pwd)
hooks=$source/module/front/hooks/hooks.txt

job lookups --mem 1GiB -- "$kinds/lookups" "$source/module/generate/cuda_api.tsv" "$hooks"
wait "${pids[lookups]}" || fail "$(head -n 20 "$scratch/lookups.out")"
cat "$scratch/lookups.out"
expect_between "substituted" "$(fact "$scratch/lookups.out" substituted)" 5000 "$(fact "$scratch/lookups.out" lookups)"
