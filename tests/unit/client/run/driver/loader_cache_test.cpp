#include "client/run/driver/loader_cache.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/unit/client/run/driver/loader_cache.hpp"

namespace cgpu::client {
namespace {

using Paths = std::vector<std::string>;

std::string text_of(const char* path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The output of `ldconfig -p` for a library, in its order.
Paths ldconfigs(const std::string& name) {
    Paths paths;
    FILE* output = popen("/sbin/ldconfig -p", "r");
    std::array<char, 4096> line{};
    while (output != nullptr && fgets(line.data(), line.size(), output) != nullptr) {
        std::istringstream words{std::string(line.data())};
        std::string word;
        words >> word;
        if (word != name) continue;
        while (words >> word && word != "=>") continue;
        if (words >> word) paths.push_back(word);
    }
    if (output != nullptr) pclose(output);
    return paths;
}

TEST(LoaderCache, SaysWhatLdconfigSays) {
    const std::string cache = text_of("/etc/ld.so.cache");
    if (cache.empty()) GTEST_SKIP() << "no /etc/ld.so.cache here";
    for (const char* name : {"libc.so.6", "libstdc++.so.6", "libsystemd.so.0", "libnothing.so.1"})
        EXPECT_EQ(cached_paths(cache, name), ldconfigs(name)) << name;
    EXPECT_FALSE(cached_paths(cache, "libc.so.6").empty());
}

TEST(LoaderCache, KeepsTheOrder) {
    const std::string cache = loader_cache({{"b", "/2/b"}, {"a", "/1/a"}, {"b", "/1/b"}, {"b", "relative"}});
    EXPECT_EQ(cached_paths(cache, "b"), (Paths{"/2/b", "/1/b"}));
    EXPECT_EQ(cached_paths(cache, "a"), Paths{"/1/a"});
    EXPECT_EQ(cached_paths("ld.so-1.7.0 and what belongs to it" + cache, "a"), Paths{"/1/a"});
}

RC_GTEST_PROP(LoaderCache, TakesAnyBytes, (const std::string& bytes, unsigned char at, unsigned char value)) {
    (void)cached_paths(bytes, "a");
    (void)cached_paths("glibc-ld.so.cache1.1" + bytes, "a");
    std::string cache = loader_cache({{"a", "/1/a"}, {"b", "/2/b"}});
    cache[at % cache.size()] = static_cast<char>(value);
    (void)cached_paths(cache, "a");
    (void)cached_paths(std::string_view(cache).substr(0, at % cache.size()), "a");
}

}  // namespace
}  // namespace cgpu::client
