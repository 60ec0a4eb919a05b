# Names that another user chose: an instance that is called like another's id doesn't take its place, a name that two have is
# refused with both, and names change neither the lines of others nor how their text is seen: in tables, CSV, JSON and labels.
. "$(dirname "$0")/../lib.sh"
asks=(CGPU_MEM=512MiB)
ids() { cgpuctl list --json | jq -r --arg name "$1" '.[] | select(.name == $name).id'; }
limit_of() { cgpuctl list --json | jq --arg id "$1" '.[] | select(.id == $id).gpus[0].memory_limit_bytes / 1048576'; }
# held_by NUMBER NAME: a job with this name, ready.
held_by() {
    env "${asks[@]}" cgpuctl run --name "$2" -- alloc --mib 10 --hold >"$scratch/$1.out" 2>"$scratch/$1.err" </dev/null &
    pids[$1]=$!
    wait_for 20 is_ready "$1"
}
held_by victim train
victim=$(ids train)
short=${victim:0:12}

# --- Its id, as it is shown and in full, means it, whoever is called so.
held_by 2 "$short"
held_by 3 "$victim"
for word in "$short" "$victim" train "${victim:0:20}"; do
    expect_equal "what $word is" "$(cgpuctl show "$word" --json | jq -r .id)" "$victim"
done
expect cgpuctl set-memory "$short" 600MiB -q
expect_equal "limit after set-memory" "$(limit_of "$victim")" 600
expect cgpuctl apply -q - <<<"set-memory $short 700MiB"
expect_equal "limit after apply" "$(limit_of "$victim")" 700
expect cgpuctl revert "$short" -q
expect_equal "limit after revert" "$(limit_of "$victim")" 512
expect cgpuctl set-priority "$short" high -q
expect_equal "who has high priority" "$(cgpuctl list --json | jq -r '.[] | select(.gpus[0].high_priority).name')" train
expect_equal "what why explains" "$(cgpuctl why "$short" --seconds 1 --json | jq -r '.[0].id')" "$victim"
expect_equal "the bus's answer" "$(cgpuctl show "$(ids "$short")" --json | jq -r .name)" "$short"

# --- What is ambiguous is refused, with the candidates.
held_by 4 train
mapfile -t both < <(ids train)
expect_equal "instances that are called train" "${#both[@]}" 2
expect_error 'instance "train": several instances are meant by it. Try: name one of: ' cgpuctl set-memory train 600MiB
for id in "${both[@]}"; do
    expect grep -qF "${id:0:12} (\"train\", user id 0)" <<<"$said"
    expect_equal "limit of $id" "$(limit_of "$id")" 512
done
for number in 2 3 4; do end_job $number; done

# --- Names that would change what others see.
only() { [[ $(cgpuctl list -q | wc -l) == "$1" ]]; }
wait_for 10 only 1
# widest: the letters of the longest line.
widest() { python3 -c 'import sys; print(max(len(line) for line in open(0, encoding="utf-8", newline="\n")) - 1)'; }
held_by 5 "$(printf 'x%.0s' {1..40})"
widths="$(cgpuctl list | widest) $(cgpuctl status | widest) $(cgpuctl inspect -d | widest) $(cgpu-smi | widest)"
end_job 5
wait_for 10 only 1
rlo=$'\u202e' isolate=$'\u2066' mark=$'\u061c' zero=$'\u200b' line=$'\u2028' csi=$'\u009b' bom=$'\ufeff' esc=$'\e[2J'
hostile=$rlo$isolate$mark$zero$line$csi$bom$esc
long=$hostile$(printf 'x%.0s' {1..300})
held_by 6 "$long"
held_by 7 '=HYPERLINK("http://x","y")'
held_by 8 '-1+1'
expect_equal "widths beside a name of 300" \
    "$(cgpuctl list | widest) $(cgpuctl status | widest) $(cgpuctl inspect -d | widest) $(cgpu-smi | widest)" "$widths"
cgpu-exporter --listen 127.0.0.1:0 >"$scratch/exporter.out" 2>"$scratch/exporter.err" &
exporter=$!
wait_for 10 has "$scratch/exporter.out" '/metrics$'
metrics() {
    python3 -c 'import sys, urllib.request as web; print(web.urlopen(sys.argv[1], timeout=10).read().decode(), end="")' \
        "$(sed -nE 's,.*(http://.*/metrics),\1,p' "$scratch/exporter.out")"
}
shows() { # COMMAND…: it succeeds, and shows no hidden character.
    "$@" >"$scratch/shown" 2>&1 || fail "it failed: $*: $(cat "$scratch/shown")"
    python3 - "$scratch/shown" "$*" <<'P' || fail "$* shows what it should not"
import sys, unicodedata
text = open(sys.argv[1], encoding="utf-8", newline="").read()
hidden = sorted({hex(ord(c)) for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")})
print(sys.argv[2], len(text), "characters,", hidden)
sys.exit(1 if hidden else 0)
P
}
id=$(cgpuctl list --json | jq -r '.[] | select(.name | endswith("xxx")).id')
for command in 'list' 'list --json' 'status' 'inspect -d' 'inspect -d --json' "show $id" "show $id --json" "why $id --seconds 1" \
    'top -b -n 1' 'report' 'report --csv' 'report --json'; do
    # shellcheck disable=SC2086
    shows cgpuctl $command
done
shows cgpu-smi
shows cgpu-smi --query-instance=id,name,state --format=csv
shows metrics
expect_equal "the name in full" "$(cgpuctl list --json | jq -r --arg id "$id" '.[] | select(.id == $id).name')" "$long"
# A log's sentences are ASCII.
expect grep -aF 'xxxx' <(lab-log) >/dev/null
! LC_ALL=C grep -aqP '[\x80-\xff\x1b]' <(lab-log | grep -aF 'xxxx') || fail "cgpud's log has a name as it was chosen"

# --- A spreadsheet sees text, and numbers as they are.
cells() { cgpu-smi --query-instance=name,weight --format=csv,noheader | sort; }
expect grep -qxF "'-1+1, 1" <(cells)
expect grep -qxF "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\", 1" <(cells)
expect_equal "cells that begin as formulas" "$(cells | grep -cE '^"?[-=+@]')" 0
reported() { cgpuctl report --csv | grep -qF "$1"; }
for number in 7 8; do end_job $number; done
wait_for 10 reported "'-1+1,1,"
expect reported "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",1,"
expect_equal "rows of the report that begin as formulas" "$(cgpuctl report --csv | grep -cE '^"?[-=+@]')" 0
end_job 6
kill -TERM $exporter
wait $exporter
expect_equal "exit status of the exporter" $? 0
end_job victim
