# For every name, version and flags that are looked up: a function with a hook is the front's, all others are the driver's
# own, and functions that the driver lacks are not found.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../../.." && pwd)
hooks=$source/module/front/hooks/hooks.txt

job lookups --mem 1GiB -- "$kinds/lookups" "$source/module/generate/cuda_api.tsv" "$hooks"
wait "${pids[lookups]}" || fail "$(head -n 20 "$scratch/lookups.out")"
cat "$scratch/lookups.out"
expect_between "substituted" "$(fact "$scratch/lookups.out" substituted)" 5000 "$(fact "$scratch/lookups.out" lookups)"
