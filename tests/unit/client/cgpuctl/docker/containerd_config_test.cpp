#include "client/cgpuctl/docker/containerd/containerd_config.hpp"

#include <gtest/gtest.h>

#include "client/cgpuctl/docker/containerd/toml_tables.hpp"

namespace cgpu::cgpuctl {
namespace {

constexpr const char* kProgram = "/usr/bin/cgpu-runtime";

/// As Debian's package has it.
constexpr const char* kDebians = R"(version = 2

[plugins]
  [plugins."io.containerd.grpc.v1.cri"]
    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "/usr/lib/cni"
      conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.internal.v1.opt"]
    path = "/var/lib/containerd"
)";

/// With runtimes, comments, and tables behind them.
constexpr const char* kOwnRuntimes = R"(# our node
version = 2 # the newer one
imports = []
[plugins.'io.containerd.grpc.v1.cri'.containerd]
  default_runtime_name = "runc"
  [plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes]
    [ plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc ]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = true   # the kubelet's driver

# about the stream
[stream]
  list = [ "a]", # "
    "[no.table]",
  ]
  text = """
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.cgpu]
"""
)";

std::string with_runtime(const std::string& text, const std::string& program = kProgram) {
    const auto done = with_containerd_runtime(text, program);
    EXPECT_TRUE(done) << done.error().text;
    return done.value_or("");
}

/// The value of a key of the runtime of that name; empty: none.
std::string value_of(const std::string& text, const std::string& runtime, std::vector<std::string> key,
                     const std::string& plugin = "io.containerd.grpc.v1.cri") {
    TomlPath path = {"plugins", plugin, "containerd", "runtimes", runtime};
    path.insert(path.end(), key.begin(), key.end());
    std::string found;
    for (const TomlLine& line : toml_lines(text)) {
        if (line.key != path) continue;
        EXPECT_TRUE(found.empty()) << "it is there twice";
        found = line.value;
    }
    return found;
}

TEST(ContainerdConfig, HasTheRuntimeOnceHoweverOftenItIsAdded) {
    for (const char* before : {"", "\n", kDebians, kOwnRuntimes}) {
        const auto once = with_runtime(before);
        EXPECT_EQ(value_of(once, "cgpu", {"runtime_type"}), "\"io.containerd.runc.v2\"") << once;
        EXPECT_EQ(value_of(once, "cgpu", {"options", "BinaryName"}), "\"/usr/bin/cgpu-runtime\"");
        EXPECT_EQ(value_of(once, "runc", {"runtime_type"}), "\"io.containerd.runc.v2\"")
            << "containerd's own would be gone";
        EXPECT_EQ(with_runtime(once), once);
        const auto moved = with_runtime(once, "/opt/cgpu-runtime");
        EXPECT_EQ(value_of(moved, "cgpu", {"options", "BinaryName"}), "\"/opt/cgpu-runtime\"");
        EXPECT_EQ(with_runtime(moved), once);
    }
}

TEST(ContainerdConfig, AllElseStaysAsItWas) {
    for (const char* before : {"", kDebians, kOwnRuntimes}) {
        const auto with = with_runtime(before);
        EXPECT_TRUE(with.starts_with(before));
        EXPECT_EQ(without_containerd_runtime(with), before);
        EXPECT_EQ(without_containerd_runtime(before), before) << "there is nothing to undo";
    }
    // What somebody adds behind it stays, with its comment.
    const auto with = with_runtime(kDebians);
    EXPECT_EQ(without_containerd_runtime(with + "\n# mine\n[debug]\nlevel = \"info\"\n"),
              std::string(kDebians) + "\n# mine\n[debug]\nlevel = \"info\"\n");
}

TEST(ContainerdConfig, CgroupsAreMadeAsByRunc) {
    EXPECT_EQ(value_of(with_runtime(kOwnRuntimes), "cgpu", {"options", "SystemdCgroup"}), "true");
    EXPECT_EQ(value_of(with_runtime(kDebians), "cgpu", {"options", "SystemdCgroup"}), "");
}

TEST(ContainerdConfig, Version3HasThePluginUnderAnotherName) {
    const auto with = with_runtime("version = 3\n");
    EXPECT_EQ(value_of(with, "cgpu", {"options", "BinaryName"}, "io.containerd.cri.v1.runtime"),
              "\"/usr/bin/cgpu-runtime\"");
    EXPECT_EQ(value_of(with, "runc", {"runtime_type"}, "io.containerd.cri.v1.runtime"),
              "\"io.containerd.runc.v2\"");
    EXPECT_EQ(without_containerd_runtime(with), "version = 3\n");
}

TEST(ContainerdConfig, OtherVersionsAndFormsAreRefused) {
    const std::string start = "version = 2\n";
    for (const std::string& text :
         {std::string("disabled_plugins = [\"cri\"]\n"), std::string("version = 1\n"),
          std::string("version = 4\n"),
          start + "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\nruntimes = {}\n",
          start + "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\nruntimes.runc.runtime_type = \"x\"\n",
          start +
              "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes]\nrunc = {runtime_type = \"x\"}\n",
          start + "plugins = {}\n", start + "imports = [\n", start + "root = \"\"\"\n"}) {
        const auto done = with_containerd_runtime(text, kProgram);
        ASSERT_FALSE(done) << text;
        EXPECT_EQ(done.error().kind, client::ClientError::Kind::refused);
        EXPECT_NE(done.error().text.find(". Try: "), std::string::npos) << done.error().text;
    }
}

TEST(ContainerdConfig, TellsImports) {
    EXPECT_TRUE(imports_files("imports = [\"/etc/containerd/conf.d/*.toml\"]\n"));
    EXPECT_TRUE(imports_files("imports = [\n  '/a',\n]\n"));
    for (const char* text : {"", "imports = []\n", "# imports = ['/a']\n", "[x]\nimports = ['/a']\n"})
        EXPECT_FALSE(imports_files(text)) << text;
}

TEST(TomlLines, ReadsNamesAsTheyAreWritten) {
    const auto lines =
        toml_lines("a . 'b.c' = 1\n[ x.\"y # z\" ]\nk = \"v # w\" # comment\nbad\n[[list]]\n= 2\n[");
    EXPECT_EQ(lines.at(0).key, (TomlPath{"a", "b.c"}));
    EXPECT_EQ(lines.at(1).table, (TomlPath{"x", "y # z"}));
    EXPECT_EQ(lines.at(2).key, (TomlPath{"x", "y # z", "k"}));
    EXPECT_TRUE(lines.at(3).key.empty());
    EXPECT_EQ(lines.at(4).table, (TomlPath{"list"}));
    EXPECT_EQ(lines.size(), 7U);
    for (const char* text : {"[", "[\"", "a = \"\"\"", "a = '\\", "\"=\n'=\n[[", "a = \"\\\"", "x=[\n[\n"})
        (void)toml_lines(text);
}

// As Docker's package of containerd has it.
TEST(ContainerdConfig, ADisabledPluginIsRefused) {
    for (const char* text : {"version = 2\ndisabled_plugins = [\"cri\"]\n",
                             "disabled_plugins = ['io.containerd.grpc.v1.cri']\nversion = 2\n",
                             "version = 3\ndisabled_plugins = [\n  \"aufs\", # not here\n  "
                             "\"io.containerd.cri.v1.runtime\",\n]\n",
                             "disabled_plugins = [\"cri\"]\n"}) {
        const auto done = with_containerd_runtime(text, kProgram);
        ASSERT_FALSE(done) << text;
        EXPECT_EQ(done.error().kind, client::ClientError::Kind::refused);
        EXPECT_TRUE(done.error().text.starts_with("disabled_plugins has ")) << done.error().text;
    }
    for (const char* text :
         {"version = 2\ndisabled_plugins = []\n", "version = 2\ndisabled_plugins = [\n  # \"cri\"\n]\n",
          "version = 2\ndisabled_plugins = [\"aufs\"]\nrequired_plugins = [\"cri\"]\n"})
        EXPECT_TRUE(with_containerd_runtime(text, kProgram)) << text;
}

TEST(ContainerdConfig, WhatContainerdItselfReadsIsJudged) {
    const std::string dump = with_runtime("version = 2\n");
    EXPECT_TRUE(check_containerd_dump(dump, kProgram));
    EXPECT_FALSE(check_containerd_dump(dump, "/opt/cgpu-runtime"));
    EXPECT_FALSE(check_containerd_dump(
        "version = 2\n[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc]\n", kProgram));
    EXPECT_FALSE(
        check_containerd_dump("disabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n" + dump, kProgram));
}

}  // namespace
}  // namespace cgpu::cgpuctl
