#include "client/runtime/oci/engine_record.hpp"

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

EngineRecord record_with_note(const std::string& note) {
    const TempRoot root;
    root.file(std::string("/containers/") + kId + "/config.v2.json", note);
    const auto bundle = bundle_of(root, root.at(std::string("/containers/") + kId + "/hostname"));
    EXPECT_TRUE(bundle);
    return engine_record(*bundle, kId);
}
std::string name_with_note(const std::string& note) { return record_with_note(note).name; }

TEST(EngineRecord, HasTheImageThatDockerWasAskedFor) {
    EXPECT_EQ(record_with_note(R"({"Name":"/train","Config":{"Image":"team/train:1"}})").image,
              "team/train:1");
    for (const auto* note : {R"({"Name":"/train"})", R"({"Name":"/train","Config":7})",
                             R"({"Name":"/train","Config":{"Image":7}})"}) {
        EXPECT_EQ(record_with_note(note).image, "") << note;
        EXPECT_EQ(record_with_note(note).name, "train") << note;
    }
}

TEST(EngineRecord, IsDockers) { EXPECT_EQ(name_with_note(R"({"ID":"x","Name":"/train"})"), "train"); }

TEST(EngineRecord, IsTheHostNameWhereDockersNoteIsOfAnotherForm) {
    for (const auto* note : {"", "[]", "{", R"({"Name":7})", R"({"Name":""})", R"({"Name":"/"})", "{}"})
        EXPECT_EQ(name_with_note(note), "web") << note;
}

TEST(EngineRecord, IsTheHostNameWhereTheFileIsSomebodysOwn) {
    const TempRoot root;
    root.file("/own/config.v2.json", R"({"Name":"/train"})");
    const auto bundle = bundle_of(root, root.at("/own/hostname"));
    ASSERT_TRUE(bundle);
    EXPECT_EQ(engine_record(*bundle, kId).name, "web");
}

TEST(EngineRecord, IsEmptyWhereTheHostNameIsTheId) {
    const TempRoot root;
    root.file("/config.json", R"({"hostname":"0123456789ab"})");
    const auto bundle = OciBundle::read(root.path());
    ASSERT_TRUE(bundle);
    EXPECT_EQ(engine_record(*bundle, kId).name, "");
}

/// The record of a container whose bundle is this folder.
EngineRecord record_in(const TempRoot& root, const std::string& folder, const std::string& id,
                       const std::string& config = "{}") {
    root.file(folder + "/config.json", config);
    const auto bundle = OciBundle::read(root.at(folder));
    EXPECT_TRUE(bundle);
    return engine_record(*bundle, id);
}
std::string name_in(const TempRoot& root, const std::string& folder, const std::string& id,
                    const std::string& config = "{}") {
    return record_in(root, folder, id, config).name;
}

TEST(EngineRecord, IsPodmansFromTheListOfItsStorage) {
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

TEST(EngineRecord, IsInPodmansListOfContainersThatGoWhenTheyEnd) {
    const TempRoot root;
    const std::string bundle = std::string("/storage/overlay-containers/") + kId + "/userdata";
    root.file("/storage/overlay-containers/volatile-containers.json",
              R"([{"id":"0123456789abcdef","names":["worker"],"metadata":"{\"image-name\":\"train:1\"}"}])");
    EXPECT_EQ(record_in(root, bundle, kId).name, "worker");
    root.file("/storage/overlay-containers/containers.json", R"([{"id":"other","names":["red"]}])");
    EXPECT_EQ(record_in(root, bundle, kId).name, "worker");
    EXPECT_EQ(record_in(root, bundle, kId).image, "train:1");
}

TEST(EngineRecord, OfAPodsContainerIsKubernetes) {
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

TEST(EngineRecord, HasTheImagesOfPodmanAndPods) {
    const TempRoot root;
    const std::string bundle = std::string("/storage/overlay-containers/") + kId + "/userdata";
    const auto image = [&](const std::string& metadata) {
        root.file("/storage/overlay-containers/containers.json",
                  R"([{"id":"0123456789abcdef","names":["blue"],"metadata":)" + metadata + "}]");
        return record_in(root, bundle, kId).image;
    };
    EXPECT_EQ(image(R"("{\"image-name\":\"docker.io/library/train:1\"}")"), "docker.io/library/train:1");
    for (const auto* other : {R"("")", "7", R"("[]")", R"("{\"image-name\":7}")"})
        EXPECT_EQ(image(other), "") << other;
    EXPECT_EQ(record_in(root, std::string("/run/io.containerd.runtime.v2.task/k8s.io/") + kId, kId,
                        R"({"annotations":{"io.kubernetes.cri.image-name":"train:2"}})")
                  .image,
              "train:2");
}

TEST(EngineRecord, HasContainerdsNamespace) {
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
