#!/usr/bin/env bash
# Tests which of two steps runs in a ./check (.ci/changed, .ci/turn, .ci/turns, take_turn in .ci/steps.sh), in a git repository
# of its own. usage: turns_test.sh SOURCE_FOLDER
set -u
source_folder=$1
command -v git >/dev/null || { echo "SKIP: there is no git here" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export HOME=$folder GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
bad=0
fail() {
    echo "$*"
    bad=1
}
expect_equal() { # WHAT GOT WANTED
    [[ $2 == "$3" ]] || fail "$1: expected \"$3\", got \"$2\""
}

# commit HOUR FILE…: changes these files; the hash is the same in each run of this test.
commit() {
    local file
    export GIT_AUTHOR_DATE="$((1700000000 + $1 * 3600)) +0000"
    export GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
    for file in "${@:2}"; do
        mkdir -p "$(dirname "$file")"
        echo "$1" >"$file"
    done
    git add . && git commit -qm "$1"
}
changed() { .ci/changed | paste -sd ' '; }
turn() { .ci/changed | .ci/turn "$@"; }

git init -q .
mkdir .git/info 2>/dev/null
echo .ci >>.git/info/exclude
ln -s "$source_folder/.ci" .ci
commit 0 docs/first
commit 1 docs/second

# Without a landing, or at it: the last day. Since a landing: what was committed, changed and added.
commit 40 docs/third
commit 41 docs/fourth
expect_equal "changed in the last day" "$(changed)" 'docs/fourth docs/third'
git update-ref refs/remotes/origin/main HEAD
git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
expect_equal "changed in the day before the landing" "$(changed)" 'docs/fourth docs/third'
commit 42 docs/fifth
echo more >docs/first
touch docs/sixth
expect_equal "changed since the landing" "$(changed)" 'docs/fifth docs/first docs/sixth'
git checkout -q docs/first && rm docs/sixth

# landed HOUR FILE…: a commit with these files alone since the landing.
landed() {
    git update-ref refs/remotes/origin/main HEAD
    commit "$@"
}
# What the change concerns decides, whatever the commit.
hour=100
for file in "asan tsan core/request/percent.cpp" "tsan asan module/front/link/link.cpp" "tsan asan daemon/link/base/thread.cpp" \
    "clean-bookworm clean-trixie cmake/packages.txt" "clean-trixie clean-bookworm tests/system/containers/suite.sh" \
    "docker-of-systemd docker-by-hand units/cgpud.service.in" "docker-by-hand docker-of-systemd client/runtime/call/asked.cpp"; do
    read -r step other path <<<"$file"
    for ((i = 0; i < 2; ++i)); do
        landed $((hour++)) "$path" docs/first
        expect_equal "turn with $path" "$(turn "$step" "$other")" "$step"
        expect_equal "turn with $path, in the other order" "$(turn "$other" "$step")" "$step"
    done
done

# rhythm FILE…: commits that concern both or neither. Whoever lands each, or each second or third one, soon meets both steps; a
# commit chooses the same each time; and the pairs don't depend on each other.
rhythm() {
    local every i n in_turn files pairs='' choices=()
    for ((i = 0; i < 24; ++i)); do
        landed $((hour++)) "$@"
        files=$(.ci/changed)
        choices+=("$(.ci/turn asan tsan <<<"$files")")
        pairs+=" ${choices[-1]}+$(.ci/turn clean-trixie clean-bookworm <<<"$files")"
    done
    expect_equal "the same commit again" "$(turn asan tsan)" "${choices[-1]}"
    for every in 1 2 3; do
        for ((i = 0; i < every; ++i)); do
            in_turn=$(for ((n = i; n < 24; n += every)); do echo "${choices[n]}"; done | sort -u | paste -sd ' ')
            expect_equal "steps of each commit of $every, with $*" "$in_turn" 'asan tsan'
        done
    done
    expect_equal "kinds of checks with $*" "$(tr ' ' '\n' <<<"$pairs" | grep . | sort -u | wc -l)" 4
}
rhythm docs/first
rhythm core/request/percent.cpp module/front/link/link.cpp client/runtime/main.cpp cmake/packages.txt

# The last line of a check says what is left. Where no choice can be made, both run.
ended() { bash -c '. .ci/steps.sh; pair=(asan tsan); take_turn pair; echo "${pair[@]}"; end_steps' | paste -sd '|'; }
landed $((hour++)) module/front/link/link.cpp
expect_equal "a check of threads" "$(ended)" 'tsan|0 passed, 0 failed; left to later commits: asan'
landed $((hour++)) core/request/percent.cpp
expect_equal "a check of a parser" "$(ended)" 'asan|0 passed, 0 failed; left to later commits: tsan'
rm .ci && mkdir .ci && cp "$source_folder/.ci/steps.sh" .ci
expect_equal "a check without a choice" "$(ended 2>/dev/null)" 'asan tsan|0 passed, 0 failed'

# The table names steps and files that exist.
while read -ra row; do
    [[ ${row[0]} == docker-* ]] || grep -q "[( ]${row[0]}[) ]" "$source_folder/check" || fail ".ci/turns: there is no step ${row[0]}"
    for pattern in "${row[@]:1}"; do
        [[ $(find "$source_folder" -path "$source_folder/build" -prune -o -path "$source_folder/$pattern" -print -quit) ]] ||
            fail ".ci/turns: $pattern is no file"
    done
done < <(grep '^[^#]' "$source_folder/.ci/turns")
exit "$bad"
