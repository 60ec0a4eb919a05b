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

/// The name of a container whose bundle is this folder.
std::string name_in(const TempRoot& root, const std::string& folder, const std::string& id,
                    const std::string& config = "{}") {
    root.file(folder + "/config.json", config);
    const auto bundle = OciBundle::read(root.at(folder));
    EXPECT_TRUE(bundle);
    return engine_name(*bundle, id);
}

TEST(EngineName, IsPodmansFromTheListOfItsStorage) {
    const TempRoot root;
    const std::string bundle = std::string("/storage/overlay-containers/") + kId + "/userdata";
    const auto name = [&](const std::string& list) {
        root.file("/storage/overlay-containers/containers.json", list);
        return name_in(root, bundle, kId, R"({"hostname":"0123456789ab"})");
    };
    EXPECT_EQ(name(R"([7,{"id":"other","names":["red"]},{"id":"0123456789abcdef","names":["blue","b"]}])"),
              "blue");
    for (const auto* list :
         {"", "{}", "[]", "[7]", R"([{"id":"0123456789abcdef"}])",
          R"([{"id":"0123456789abcdef","names":[]}])", R"([{"id":"0123456789abcdef","names":7}])",
          R"([{"id":"0123456789abcdef","names":[7]}])", R"([{"id":7,"names":["red"]}])"})
        EXPECT_EQ(name(list), "") << list;
}

TEST(EngineName, OfAPodsContainerIsKubernetes) {
    const TempRoot root;
    const std::string folder = std::string("/run/io.containerd.runtime.v2.task/k8s.io/") + kId;
    const std::string pod =
        R"("io.kubernetes.cri.sandbox-name":"job","io.kubernetes.cri.sandbox-namespace":"default")";
    EXPECT_EQ(name_in(root, folder, kId,
                      R"({"annotations":{"io.kubernetes.cri.container-name":"worker",)" + pod + "}}"),
              "default/job/worker");
    EXPECT_EQ(name_in(root, folder, kId, R"({"annotations":{)" + pod + "}}"), std::string("k8s.io/") + kId)
        << "the pod's sandbox";
}

TEST(EngineName, HasContainerdsNamespace) {
    const TempRoot root;
    const std::string tasks = "/run/io.containerd.runtime.v2.task/";
    EXPECT_EQ(name_in(root, tasks + "team/two", "two"), "team/two");
    EXPECT_EQ(name_in(root, tasks + "default/" + kId, kId, R"({"annotations":{"nerdctl/name":"train"}})"),
              "default/train");
    EXPECT_EQ(name_in(root, tasks + "moby/" + kId, kId, R"({"hostname":"web"})"), "web") << "Docker's own";
    EXPECT_EQ(name_in(root, tasks + "team/other", "two", R"({"hostname":"web"})"), "web")
        << "of another container";
}

}  // namespace
}  // namespace cgpu::runtime
