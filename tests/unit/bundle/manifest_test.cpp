#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "bundle/manifest_text.hpp"
#include "bundle/sha256.hpp"
#include "tests/unit/core/upgrade/versions.hpp"

namespace cgpu::bundle {
namespace {

using upgrade::Manifest;

const Manifest kGood = upgrade::manifest_of({1, 2, 3}, {1, 0, 0});

/// The valid manifest's text with one piece replaced.
std::string with(const std::string& piece, const std::string& other) {
    std::string text = write_manifest(kGood);
    const auto at = text.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    return text.replace(at, piece.size(), other);
}

std::string why_not(const std::string& text) {
    const auto read = parse_manifest(text);
    return read ? "" : read.error();
}

TEST(Manifest, IsJsonWithStableKeys) {
    EXPECT_EQ(write_manifest(kGood), R"({
  "manifest": 1,
  "version": "1.2.3",
  "abi": )" + std::to_string(upgrade::kNewestEngineAbi) +
                                         R"(,
  "pages": 1,
  "link": 2,
  "compatible_from": "1.0.0",
  "least_front": "1.0.0",
  "engine": "libcgpu-engine.so.1.2.3",
  "sha256": ")" + std::string(64, 'a') +
                                         R"(",
  "machine": "x86_64"
}
)");
}

RC_GTEST_PROP(Manifest, RoundTrips,
              (const upgrade::Version& version, const upgrade::Version& from, const upgrade::Version& front,
               std::uint32_t abi, std::uint32_t pages, std::uint32_t link)) {
    Manifest manifest = upgrade::manifest_of(version, std::min(version, from));
    manifest.least_front = front;
    manifest.abi = abi;
    manifest.pages = pages;
    manifest.link = link;
    RC_ASSERT(parse_manifest(write_manifest(manifest)).value() == manifest);
}

TEST(Manifest, SaysWhatIsWrong) {
    EXPECT_EQ(why_not(""), "it is no whole JSON object");
    EXPECT_EQ(why_not("[]"), "it is no whole JSON object");
    EXPECT_EQ(why_not(write_manifest(kGood) + "x"), "it is no whole JSON object");
    EXPECT_EQ(why_not("{}"), "manifest is not there as a whole number");
    EXPECT_EQ(why_not(with("\"manifest\": 1", "\"manifest\": 2")),
              "it is of form 2, and this release of cgpu reads form 1");
    EXPECT_EQ(why_not(with("\"1.2.3\"", "\"1.2\"")), "version is no version such as 1.2.3");
    EXPECT_EQ(why_not(with("\"pages\": 1", "\"pages\": -1")), "pages is not there as a whole number");
    EXPECT_EQ(why_not(with("\"pages\": 1", "\"pages\": 4294967296")), "pages is not there as a whole number");
    EXPECT_EQ(why_not(with("\"pages\": 1", "\"pages\": 1.5")), "pages is not there as a whole number");
    EXPECT_EQ(why_not(with("\"x86_64\"", "64")), "machine is not there as a text");
    EXPECT_EQ(why_not(with("\"compatible_from\": \"1.0.0\"", "\"compatible_from\": \"1.2.4\"")),
              "compatible_from 1.2.4 is above the version 1.2.3");
    EXPECT_EQ(why_not(with("aaaa", "AAAA")), "sha256 is not 64 hex digits in lower case");
    EXPECT_EQ(why_not(with("aaaa", "aaa")), "sha256 is not 64 hex digits in lower case");
}

TEST(Manifest, NamesNoFileElsewhere) {
    for (const char* name : {"../libcgpu-engine.so.1.2.3", "/etc/shadow", "libcgpu-engine.so.1.2.4", ""})
        EXPECT_NE(why_not(with("\"libcgpu-engine.so.1.2.3\"", '"' + std::string(name) + '"')), "") << name;
}

TEST(Manifest, SaysEachThingOnce) {
    EXPECT_EQ(why_not(with("\"abi\":", "\"version\": \"9.9.9\", \"abi\":")), "\"version\" is in it twice");
}

TEST(Manifest, IsFlat) {
    EXPECT_EQ(why_not(with("\"abi\":", "\"more\": {}, \"abi\":")),
              "it has something else than texts and numbers in it");
    EXPECT_EQ(why_not(std::string(8000, '[')), "it is no whole JSON object");
}

TEST(Manifest, IsBounded) {
    EXPECT_EQ(why_not(write_manifest(kGood) + std::string(kMaxManifest, ' ')),
              "it is larger than any manifest");
}

TEST(Manifest, MaySayMoreThanIsKnown) {
    EXPECT_EQ(parse_manifest(with("\"abi\":", "\"signed_by\": \"somebody\", \"abi\":")), kGood);
}

RC_GTEST_PROP(Manifest, NoTextBreaksTheReader, (const std::string& text)) {
    const auto read = parse_manifest(text);
    RC_ASSERT(!read.has_value());
    RC_ASSERT(!read.error().empty());
}

RC_GTEST_PROP(Manifest, AChangedTextIsReadAsSuchOrRefused, ()) {
    std::string text = write_manifest(kGood);
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::arbitrary<char>();
    const auto read = parse_manifest(text);
    if (read) RC_ASSERT(parse_manifest(write_manifest(*read)).value() == *read);
}

RC_GTEST_PROP(Manifest, ACutOffTextIsRefused, ()) {
    const std::string text = write_manifest(kGood);
    RC_ASSERT(!parse_manifest(text.substr(0, *rc::gen::inRange<std::size_t>(0, text.size() - 1))));
}

TEST(Sha256, IsTheStandards) {
    EXPECT_EQ(sha256({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    const std::string abc = "abc";
    EXPECT_EQ(sha256(std::as_bytes(std::span(abc))),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace cgpu::bundle
