#!/usr/bin/env bash
# libraries.sh FOLDER: builds the third-party libraries from the sources in Debian's archive, static, for the sysroot that
# sysroot.sh has made in FOLDER, and installs them there. Also FOLDER/newer.o and FOLDER/bin/sdbus-c++-xml2cpp, the generator that
# fits this sdbus-c++. Kept until the list, this file or the sysroot changes.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
CGPU_PORTABLE=$(cd "$1" && pwd)
export CGPU_PORTABLE
made=$CGPU_PORTABLE/sysroot/libraries-made-of
newer=$portable_here/../../module/portable/newer.c
wanted=$({ parts source && parts upstream && cat "${BASH_SOURCE[0]}" "$portable_here/toolchain.cmake" "$newer"; } | sha256sum)
[[ ! -e $made || $(<"$made") != "$wanted" ]] || exit 0
rm -f "$made"

sysroot=$CGPU_PORTABLE/sysroot
gcc --sysroot="$sysroot" -O2 -fPIC -fvisibility=hidden -fno-builtin -ffunction-sections -Wall -Wextra -Werror -c "$newer" -o "$CGPU_PORTABLE/newer.o"

private_apt "$CGPU_PORTABLE/apt"
sources=$CGPU_PORTABLE/sources
mkdir -p "$sources"
cd "$sources"
while read -r _ name version; do
    [[ -d $name ]] && [[ -e $name/unpacked-$version ]] && continue
    rm -rf "$name"
    apt-get "${apt[@]}" --download-only source "$name=$version" || not_in_archive "$name $version"
    dpkg-source --no-copy -x "${name}_${version#*:}.dsc" "$name"
    touch "$name/unpacked-$version"
done < <(parts source)
while read -r _ name version; do
    [[ -d $name ]] && [[ -e $name/unpacked-$version ]] && continue
    rm -rf "$name"
    apt-get "${apt[@]}" --download-only --tar-only source "$name=$version" || not_in_archive "$name $version"
    archive=("${name}_${version%-*}".orig.tar.*)
    mkdir "$name"
    tar -C "$name" --strip-components=1 -xf "${archive[0]}"
    touch "$name/unpacked-$version"
done < <(parts upstream)

common=(-G Ninja -DCMAKE_TOOLCHAIN_FILE="$portable_here/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$sources=."
    -DCMAKE_C_FLAGS_RELEASE="-O2 -DNDEBUG -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$sources=."
    -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu)

# library NAME OPTION…: builds it and installs it into the sysroot.
library() {
    local name=$1 build=$CGPU_PORTABLE/libraries/$1
    shift
    rm -rf "$build"
    cmake -S "$sources/$name" -B "$build" "${common[@]}" "$@"
    cmake --build "$build"
    DESTDIR=$sysroot cmake --install "$build"
}
library fmtlib -DFMT_TEST=OFF -DFMT_DOC=OFF
library spdlog -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF -DSPDLOG_BUILD_TESTS=OFF
library yaml-cpp -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF
library civetweb -DCIVETWEB_BUILD_TESTING=OFF -DCIVETWEB_ENABLE_SSL=OFF -DCIVETWEB_ENABLE_ASAN=OFF -DCIVETWEB_ENABLE_CXX=ON \
    -DCIVETWEB_ENABLE_SERVER_EXECUTABLE=OFF
library prometheus-cpp -DENABLE_TESTING=OFF -DENABLE_PUSH=OFF -DENABLE_COMPRESSION=OFF -DUSE_THIRDPARTY_LIBRARIES=OFF
library sdbus-cpp -DSDBUSCPP_BUILD_DOCS=OFF -DSDBUSCPP_BUILD_DOXYGEN_DOCS=OFF -DSDBUSCPP_BUILD_TESTS=OFF
# It runs here: a program of the old glibc does.
library sdbus-cpp/tools -DCMAKE_INSTALL_BINDIR=bin
mkdir -p "$CGPU_PORTABLE/bin"
cp "$sysroot/usr/bin/sdbus-c++-xml2cpp" "$CGPU_PORTABLE/bin/"
echo "$wanted" >"$made"
