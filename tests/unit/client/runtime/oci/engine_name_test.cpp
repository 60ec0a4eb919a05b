#include "client/runtime/oci/engine_name.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

using client::TempRoot;

constexpr const char* kId = "0123456789abcdef";

/// A container whose /etc/hostname is in Docker's folder for it.
Result<OciBundle> bundle_of(const TempRoot& root, const std::string& hostname_file) {
    root.file("/bundle/config.json", R"({"hostname":"web","mounts":[7,{"destination":"/proc","source":"proc"},
        {"destination":"/etc/hostname","source":")" +
                                         hostname_file + R"("}]})");
    return OciBundle::read(root.at("/bundle"));
}

std::string name_with_note(const std::string& note) {
    const TempRoot root;
    root.file(std::string("/containers/") + kId + "/config.v2.json", note);
    const auto bundle = bundle_of(root, root.at(std::string("/containers/") + kId + "/hostname"));
    EXPECT_TRUE(bundle);
    return engine_name(*bundle, kId);
}

TEST(EngineName, IsDockers) { EXPECT_EQ(name_with_note(R"({"ID":"x","Name":"/train"})"), "train"); }

TEST(EngineName, IsTheHostNameWhereDockersNoteIsOfAnotherForm) {
    for (const auto* note : {"", "[]", "{", R"({"Name":7})", R"({"Name":""})", R"({"Name":"/"})", "{}"})
        EXPECT_EQ(name_with_note(note), "web") << note;
}

TEST(EngineName, IsTheHostNameWhereTheFileIsSomebodysOwn) {
    const TempRoot root;
    root.file("/own/config.v2.json", R"({"Name":"/train"})");
    const auto bundle = bundle_of(root, root.at("/own/hostname"));
    ASSERT_TRUE(bundle);
    EXPECT_EQ(engine_name(*bundle, kId), "web");
}

TEST(EngineName, IsEmptyWhereTheHostNameIsTheId) {
    const TempRoot root;
    root.file("/config.json", R"({"hostname":"0123456789ab"})");
    const auto bundle = OciBundle::read(root.path());
    ASSERT_TRUE(bundle);
    EXPECT_EQ(engine_name(*bundle, kId), "");
}

}  // namespace
}  // namespace cgpu::runtime
