#include "client/cgpuctl/docker/docker_config.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "client/cgpuctl/docker/engine/engine_file.hpp"
#include "client/cgpuctl/docker/runtime.hpp"
#include "tests/unit/client/support/fake_node.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::cgpuctl {
namespace {

constexpr const char* kRuntimeProgram = "/usr/bin/cgpu-runtime";
constexpr const char* kNvidias =
    "{\n  \"runtimes\": {\n    \"nvidia\": {\n      \"path\": \"nvidia-container-runtime\",\n      \"args\": "
    "[]\n    "
    "}\n  },\n  \"default-runtime\": \"nvidia\",\n  \"log-level\": \"warn\"\n}\n";

struct DockerConfigTest : testing::Test {
    [[nodiscard]] std::string text() const {
        std::ifstream stream(file);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    [[nodiscard]] OrderedJson values() const { return OrderedJson::parse(text()); }
    void configure(const DockerWish& wish) const {
        const auto old = read_docker_config(file);
        ASSERT_TRUE(old) << old.error().text;
        const auto next = with_runtime(*old, wish);
        ASSERT_TRUE(next) << next.error().text;
        ASSERT_TRUE(write_docker_config(file, *next));
    }
    void remove() const {
        const auto old = read_docker_config(file);
        ASSERT_TRUE(old) << old.error().text;
        ASSERT_TRUE(write_docker_config(file, without_runtime(*old)));
    }
    client::TempRoot folder;
    std::string file = folder.at("/docker/daemon.json");
};

TEST_F(DockerConfigTest, AMissingFileIsMade) {
    configure({kRuntimeProgram});
    EXPECT_EQ(values(),
              OrderedJson::parse(R"({"runtimes":{"cgpu":{"path":"/usr/bin/cgpu-runtime","args":[]}}})"));
}

TEST_F(DockerConfigTest, TheRestStaysInItsOrderAndIndent) {
    folder.file("/docker/daemon.json", kNvidias);
    chmod(file.c_str(), 0640);
    configure({kRuntimeProgram});
    EXPECT_EQ(values(),
              OrderedJson::parse(R"({"runtimes":{"nvidia":{"path":"nvidia-container-runtime","args":[]},
        "cgpu":{"path":"/usr/bin/cgpu-runtime","args":[]}},"default-runtime":"nvidia","log-level":"warn"})"));
    EXPECT_TRUE(text().starts_with("{\n  \"runtimes\": {\n    \"nvidia\": {\n")) << text();
    struct stat info {};
    ASSERT_EQ(stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0640U);
    remove();
    EXPECT_EQ(text(), kNvidias);
}

TEST_F(DockerConfigTest, TwiceIsAsOnce) {
    configure({kRuntimeProgram, true, true});
    const std::string once = text();
    configure({kRuntimeProgram, true, true});
    EXPECT_EQ(text(), once);
}

TEST_F(DockerConfigTest, InThePlaceOfNvidiasAndBack) {
    folder.file("/docker/daemon.json", kNvidias);
    configure({kRuntimeProgram, true, true});
    EXPECT_EQ(values()["runtimes"]["nvidia"]["path"], kRuntimeProgram);
    EXPECT_EQ(values()["default-runtime"], "cgpu");
    // A second time, as after an update: the saved values are still the original ones.
    configure({"/opt/bin/cgpu-runtime", true, true});
    EXPECT_EQ(values()["runtimes"]["nvidia"]["path"], "/opt/bin/cgpu-runtime");
    remove();
    EXPECT_EQ(text(), kNvidias);
    EXPECT_FALSE(std::filesystem::exists(before_file(file)));
}

// Found as a `default-runtime` that stayed, and with which dockerd refused the flag of that name.
TEST_F(DockerConfigTest, RemoveLeavesTheFileAsItWasFound) {
    configure({kRuntimeProgram, true, true});
    remove();
    EXPECT_FALSE(std::filesystem::exists(file)) << text();
    for (const char* found :
         {"", "{}", "{ \"runtimes\":{}, \n\n  \"debug\" :true }",
          "{\"runtimes\":{\"nvidia\":{\"path\":\"n\"}},\"default-runtime\":\"nvidia\"}", kNvidias}) {
        folder.file("/docker/daemon.json", found);
        configure({kRuntimeProgram});
        configure({kRuntimeProgram, true, true});
        remove();
        EXPECT_EQ(text(), found);
        EXPECT_FALSE(std::filesystem::exists(before_file(file))) << found;
    }
}

TEST_F(DockerConfigTest, AFileThatSomebodyHasWrittenAnewIsTheOneThatWasFound) {
    folder.file("/docker/daemon.json", kNvidias);
    configure({kRuntimeProgram, false, true});
    folder.file("/docker/daemon.json", "{ \"debug\" :true }");
    configure({kRuntimeProgram});
    EXPECT_EQ(lost_entries(*read_docker_config(file)), std::vector<std::string>{"default-runtime"});
    remove();
    EXPECT_EQ(text(), "{ \"debug\" :true }");
}

TEST_F(DockerConfigTest, RemoveKeepsWhatOthersAddedSince) {
    folder.file("/docker/daemon.json", "{ \"debug\" :true }");
    configure({kRuntimeProgram, false, true});
    auto config = read_docker_config(file);
    ASSERT_TRUE(config);
    config->values["icc"] = false;
    ASSERT_TRUE(write_docker_config(file, *config));
    remove();
    EXPECT_EQ(values(), OrderedJson::parse(R"({"debug":true,"icc":false})"));
    EXPECT_FALSE(std::filesystem::exists(before_file(file)));
}

// dockerd keeps the last value of a key that disappears.
TEST_F(DockerConfigTest, WhileItIsRemovedARunningDockerdReadsValuesInsteadOfOurs) {
    configure({kRuntimeProgram, true, true});
    const auto meanwhile = while_removed(*read_docker_config(file));
    EXPECT_EQ(meanwhile.values, OrderedJson::parse(R"({"runtimes":{},"default-runtime":"runc"})"));
    EXPECT_FALSE(meanwhile.before.empty())
        << "what was before would be lost, if this were the last that is done";
}

TEST_F(DockerConfigTest, WhatAnotherProgramTakesBackIsLost) {
    folder.file("/docker/daemon.json", kNvidias);
    EXPECT_TRUE(lost_entries(*read_docker_config(file)).empty()) << "nothing was configured";
    configure({kRuntimeProgram, true, true});
    EXPECT_TRUE(lost_entries(*read_docker_config(file)).empty());
    // As nvidia-ctk runtime configure --set-as-default leaves it.
    auto config = *read_docker_config(file);
    config.values["runtimes"]["nvidia"]["path"] = "nvidia-container-runtime";
    config.values["default-runtime"] = "nvidia";
    ASSERT_TRUE(write_docker_config(file, config));
    config = *read_docker_config(file);
    EXPECT_EQ(lost_entries(config), (std::vector<std::string>{"runtimes.nvidia", "default-runtime"}));
    EXPECT_EQ(command_for(config), "cgpuctl runtime configure --as nvidia --default");
    configure({kRuntimeProgram});
    EXPECT_EQ(lost_entries(*read_docker_config(file)).size(), 2U) << "they are still wanted";
    remove();
    EXPECT_TRUE(lost_entries(*read_docker_config(file)).empty());
}

TEST_F(DockerConfigTest, WhatSomebodyChangedMeanwhileStays) {
    configure({kRuntimeProgram, true, true});
    folder.file("/docker/daemon.json", kNvidias);
    remove();
    EXPECT_EQ(text(), kNvidias);
}

TEST_F(DockerConfigTest, BrokenJsonIsRefusedWithItsPlaceAndStays) {
    for (const char* broken : {"{\n  \"a\": 1,\n}\n", "[]", "{\"runtimes\": 7}"}) {
        folder.file("/docker/daemon.json", broken);
        RuntimeInput input;
        input.file = file;
        input.remove = false;
        const auto old = read_docker_config(file);
        const auto next = old ? with_runtime(*old, {kRuntimeProgram}) : old;
        ASSERT_FALSE(next) << broken;
        EXPECT_NE(next.error().text.find("Try: mend it by hand"), std::string::npos) << next.error().text;
        EXPECT_EQ(text(), broken);
    }
    folder.file("/docker/daemon.json", "{\n  \"a\": 1,\n}\n");
    EXPECT_NE(read_docker_config(file).error().text.find("line 3, column 1"), std::string::npos)
        << read_docker_config(file).error().text;
}

// Found as a file that counted as empty and was overwritten: only a missing file is empty.
TEST_F(DockerConfigTest, WhatCannotBeReadIsNotEmpty) {
    folder.link("/docker/daemon.json", "daemon.json");  // it leads to itself
    auto read = read_docker_config(file);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().text.find("it can't be read"), std::string::npos) << read.error().text;
    std::filesystem::remove(file);
    std::filesystem::create_directories(file);
    read = read_docker_config(file);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().text.find("it is a folder, not a file"), std::string::npos) << read.error().text;
    std::filesystem::remove(file);
    EXPECT_TRUE(read_docker_config(file));
}

TEST_F(DockerConfigTest, WithoutRightsItIsNotTheDisk) {
    if (geteuid() != 0) GTEST_SKIP() << "takes root";
    folder.file("/docker/daemon.json", kNvidias);
    ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
    ASSERT_EQ(seteuid(65534), 0);
    const auto read = read_docker_config(file);
    const auto written = read ? write_docker_config(file, *read) : client::Result<void>();
    ASSERT_EQ(seteuid(0), 0);
    ASSERT_TRUE(read) << read.error().text;
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, client::ClientError::Kind::not_authorized);
    EXPECT_NE(written.error().text.find("Try: run it as root (sudo)"), std::string::npos)
        << written.error().text;
    EXPECT_EQ(text(), kNvidias);
}

TEST_F(DockerConfigTest, WithoutRightsToMakeItsFolderItIsNotTheDisk) {
    if (geteuid() != 0) GTEST_SKIP() << "takes root";
    ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
    const auto inside = folder.path() + "/not there/daemon.json";
    ASSERT_EQ(seteuid(65534), 0);
    const auto read = read_docker_config(inside);
    const auto written = read ? write_docker_config(inside, *read) : client::Result<void>();
    ASSERT_EQ(seteuid(0), 0);
    ASSERT_TRUE(read) << read.error().text;
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, client::ClientError::Kind::not_authorized) << written.error().text;
}

TEST_F(DockerConfigTest, ALinkStaysALink) {
    folder.file("/real/daemon.json", "{}");
    folder.link("/docker/daemon.json", "../real/daemon.json");
    configure({kRuntimeProgram});
    EXPECT_TRUE(std::filesystem::is_symlink(file));
    EXPECT_TRUE(values().contains("runtimes"));
}

struct RuntimeVerbTest : DockerConfigTest {
    client::Result<void> call(const std::function<void(RuntimeInput&)>& set) {
        RuntimeInput input;
        input.file = file;
        input.no_reload = true;
        set(input);
        Terminal terminal = screen.terminal();
        return runtime(input, node, terminal);
    }
    FakeNode node;
    Screen screen;
};

TEST_F(RuntimeVerbTest, WhatMakesNoSenseIsSaidAndNothingIsWritten) {
    for (const std::function<void(RuntimeInput&)>& set :
         {std::function<void(RuntimeInput&)>([](RuntimeInput& input) { input.as = "runc"; }),
          std::function<void(RuntimeInput&)>(
              [](RuntimeInput& input) { input.remove = input.make_default = true; })}) {
        const auto done = call(set);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind, client::ClientError::Kind::usage);
        EXPECT_NE(done.error().text.find("Try: "), std::string::npos);
    }
    EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(RuntimeVerbTest, RemoveWithoutAFileChangesNothing) {
    ASSERT_TRUE(call([](RuntimeInput& input) { input.remove = true; }));
    EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(RuntimeVerbTest, ADryRunWritesNothing) {
    folder.file("/docker/daemon.json", R"({"default-runtime":"cgpu"})");
    ASSERT_TRUE(call([](RuntimeInput& input) { input.remove = input.dry_run = true; }));
    EXPECT_EQ(text(), R"({"default-runtime":"cgpu"})");
    EXPECT_NE(screen.out.str().find("it would be changed"), std::string::npos) << screen.out.str();
}

}  // namespace
}  // namespace cgpu::cgpuctl
