# What packaging/release publishes, and what it refuses, in a small tree of its own whose packages are made beforehand.
. "$(dirname "$0")/lib.sh"
made=$scratch/made published=$scratch/published
work=$scratch/work
mkdir -p "$work"/{debian,packaging,cmake}
cp -r "$tree/packaging/release" "$tree/packaging/repository" "$work/packaging/"
cp "$tree/cmake/bootstrap.sh" "$tree/cmake/packages.txt" "$work/cmake/"
git() { command git -C "$work" -c user.name=nobody -c user.email=nobody@cgpu.example -c commit.gpgsign=false -c tag.gpgsign=false "$@"; }

# say VERSION [LOGGED [SUITE]]: what the files of the tree call it.
say() {
    echo "project(cgpu VERSION $1 LANGUAGES C CXX)" >"$work/CMakeLists.txt"
    printf 'cgpu (%s) %s; urgency=medium\n\n  * It is %s.\n    It has a second line.\n\n -- nobody <nobody@cgpu.example>  Sat, 28 Nov 2026 22:00:00 +0000\n' \
        "${2-$1}" "${3-unstable}" "${2-$1}" >"$work/debian/changelog"
}
commit() { git add -A && git commit -q -m "$1"; }
# make VERSION: what the build would make.
make() {
    local name version=$1
    for name in cgpu cgpu-fs cgpu-dbgsym cgpu-fs-dbgsym; do make_deb "$name" "$version"; done
    for name in cgpu cgpu-fs; do make_rpm "$name" "$version"; done
    mkdir -p "$scratch/cgpu-$version" && tar -C "$scratch" -czf "$made/cgpu-$version-x86_64.tar.gz" "cgpu-$version"
}
release() { "$work/packaging/release" "$@" --packages "$made"; }
here=(--key releases@cgpu.example --out "$published")

make_key "Releases <releases@cgpu.example>"
command git init -q "$work"
say 1.0.0
commit first
git tag v1.0.0
make 1.0.0

echo "what it refuses"
refused() { # TEXT ARGUMENT…
    expect_error "^release: $1.*Try: " release "${@:2}"
    expect test ! -e "$published"
}
refused "there is no key to sign with" v1.0.0 --out "$published"
expect_error "there is no key to sign with.*Try: " "$work/packaging/release" v1.0.0 --out "$published" --key
refused "gpg has no secret key somebody" v1.0.0 --out "$published" --key somebody
refused "a tag or a folder is missing" --key "$fingerprint"
refused "there is no tag v1.0.1" v1.0.1 "${here[@]}"
git tag v1.0.1
refused "the tag is v1.0.1, and CMakeLists.txt there says 1\.0\.0" v1.0.1 "${here[@]}"
git tag -d v1.0.1 >/dev/null
echo >>"$work/CMakeLists.txt"
refused "the tree differs from v1.0.0:  M CMakeLists.txt" v1.0.0 "${here[@]}"
git checkout -q CMakeLists.txt
touch "$work/new"
refused "the tree differs from v1.0.0: \?\? new" v1.0.0 "${here[@]}"
rm "$work/new"
mv "$made/cgpu_1.0.0_amd64.deb" "$scratch/held"
refused "there is no .*cgpu_1.0.0_amd64.deb" v1.0.0 "${here[@]}"
make_deb cgpu 1.0.7 && mv "$made/cgpu_1.0.7_amd64.deb" "$made/cgpu_1.0.0_amd64.deb"
refused ".*cgpu_1.0.0_amd64.deb says that it is of 1\.0\.7" v1.0.0 "${here[@]}"
mv "$scratch/held" "$made/cgpu_1.0.0_amd64.deb"

echo "what it publishes"
expect release v1.0.0 "${here[@]}" >"$scratch/release.log"
expect_equal "the files" "$(cd "$published/1.0.0" && printf '%s\n' * | LC_ALL=C sort | paste -sd ' ')" \
    "CHANGES SHA256SUMS SHA256SUMS.asc SHA256SUMS.unsigned cgpu-1.0.0-1.x86_64.rpm cgpu-1.0.0-x86_64.tar.gz cgpu-dbgsym_1.0.0_amd64.deb cgpu-fs-1.0.0-1.x86_64.rpm cgpu-fs-dbgsym_1.0.0_amd64.deb cgpu-fs_1.0.0_amd64.deb cgpu_1.0.0_amd64.deb components.spdx.json"
(cd "$published/1.0.0" && sha256sum --quiet -c SHA256SUMS) || fail "the sums are not those of the files"
expect gpg --batch --quiet --verify "$published/1.0.0/SHA256SUMS.asc" "$published/1.0.0/SHA256SUMS" 2>"$scratch/gpg.log"
(cd "$made" && sha256sum --quiet -c "$published/1.0.0/SHA256SUMS.unsigned") || fail "the sums before the signatures are not those of what was made"
expect_equal "what it says of the changes" "$(cat "$published/1.0.0/CHANGES")" "$(dpkg-parsechangelog -l "$work/debian/changelog" -S Changes | sed '1d; s/^\.$//')"
expect has "$published/1.0.0/CHANGES" '^    It has a second line\.$'
expect_equal "its parts" "$(jq -r .version "$published/1.0.0/components.spdx.json")" 1.0.0
for file in cgpu-1.0.0-1 cgpu-fs-1.0.0-1; do expect cmp "$published/1.0.0/$file.x86_64.rpm" "$published/rpm/$file.x86_64.rpm"; done
for file in cgpu cgpu-fs; do expect cmp "$made/${file}_1.0.0_amd64.deb" "$published/apt/pool/${file}_1.0.0_amd64.deb"; done
expect_equal "what not everybody may read" "$(find "$published" ! -perm -o=r -print)" ''

expect_error 'has the release 1\.0\.0 already' release v1.0.0 "${here[@]}"

echo "the next one, beside it"
say 1.1.0 1.1.1
commit second
git tag v1.1.0
expect_error 'CMakeLists.txt says 1\.1\.0, and debian/changelog 1\.1\.1' release v1.1.0 "${here[@]}"
say 1.1.0 1.1.0 UNRELEASED
commit third
git tag -f v1.1.0 >/dev/null
expect_error 'says that 1\.1\.0 is UNRELEASED' release v1.1.0 "${here[@]}"
say 1.1.0
commit fourth
expect_error 'says that 1\.1\.0 is UNRELEASED' release v1.1.0 "${here[@]}"
git tag -f v1.1.0 >/dev/null
make 1.1.0
expect_error 'the tree is not that of v1\.0\.0\. Try: git checkout v1\.0\.0' release v1.0.0 --key "$fingerprint" --out "$scratch/elsewhere"
make_key "Another <another@cgpu.example>"
expect_error 'which its nodes believe' release v1.1.0 --out "$published" --key "$fingerprint"
expect test ! -e "$published/1.1.0"
expect release v1.1.0 "${here[@]}" >"$scratch/release.log"
expect_equal "versions for apt" "$(sed -n 's/^Filename: //p' "$published/apt/dists/stable/main/binary-amd64/Packages" | grep -c /cgpu_)" 2
expect_equal "hidden files" "$(find "$published" -name '.*' ! -path "$published" -print)" ''
echo "releases hold"
