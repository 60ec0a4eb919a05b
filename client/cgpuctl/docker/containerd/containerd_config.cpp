#include "client/cgpuctl/docker/containerd/containerd_config.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "client/cgpuctl/docker/containerd/toml_tables.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;
using Lines = std::vector<TomlLine>;

/// In the tables that are cgpu's, so that programs that move tables move it with them.
constexpr const char* kMark =
    "# Written by cgpuctl runtime configure --for containerd; with --remove it goes.";
constexpr const char* kNewFile = "version = 2\n";
constexpr const char* kShim = "io.containerd.runc.v2";

TomlPath runtimes_of(const std::string& plugin) { return {"plugins", plugin, "containerd", "runtimes"}; }

TomlPath below(TomlPath path, const std::string& name) {
    path.push_back(name);
    return path;
}

/// The version 2 of the file has the runtimes in one plugin, version 3 in another.
TomlPath runtimes(const std::string& version) {
    return runtimes_of(version == "3" ? "io.containerd.cri.v1.runtime" : "io.containerd.grpc.v1.cri");
}

/// 1 if the file doesn't say.
std::string version_of(const Lines& lines) {
    for (const TomlLine& line : lines)
        if (line.key == TomlPath{"version"}) return line.value;
    return "1";
}

std::string text_of(const Lines& lines) {
    std::string text;
    for (const TomlLine& line : lines) text += line.text + "\n";
    return text;
}

bool is_blank(const TomlLine& line) { return line.text.find_first_not_of(" \t\r") == std::string::npos; }

bool is_comment(const TomlLine& line) {
    const auto begin = line.text.find_first_not_of(" \t");
    return begin != std::string::npos && line.text[begin] == '#';
}

bool is_mark(const TomlLine& line) { return line.text.find(kMark) != std::string::npos; }

/// Of the table `path` and those below it. Comments and blank lines at their end belong to what follows.
Lines without_tables(const Lines& lines, const TomlPath& path) {
    Lines kept;
    bool in_it = false;
    Lines undecided;
    for (const TomlLine& line : lines) {
        if (line.is_header) {
            if (in_it) kept.insert(kept.end(), undecided.begin(), undecided.end());
            undecided.clear();
            in_it = starts_with(line.table, path);
            // The blank line that was written before it.
            if (in_it && !kept.empty() && is_blank(kept.back())) kept.pop_back();
        }
        if (!in_it) {
            kept.push_back(line);
        } else if ((is_blank(line) || is_comment(line)) && !is_mark(line)) {
            undecided.push_back(line);
        } else {
            undecided.clear();
        }
    }
    if (in_it) kept.insert(kept.end(), undecided.begin(), undecided.end());
    return kept;
}

/// Without cgpu's table, and without containerd's own if that is marked as written by cgpu.
Lines without_ours(Lines lines, const TomlPath& runtimes) {
    const TomlPath own = below(runtimes, "runc");
    const bool marked = std::any_of(lines.begin(), lines.end(),
                                    [&](const auto& line) { return line.table == own && is_mark(line); });
    lines = without_tables(lines, below(runtimes, "cgpu"));
    return marked ? without_tables(lines, own) : lines;
}

std::string header(const TomlPath& path) {
    std::string text;
    for (const std::string& part : path)
        text += (text.empty() ? "" : ".") + (part.find('.') == std::string::npos ? part : '"' + part + '"');
    return "[" + text + "]";
}

std::string table_of(const TomlPath& path) {
    return "\n" + header(path) + "\n" + kMark + "\nruntime_type = \"" + kShim + "\"\n";
}

/// The runtime makes cgroups as runc does, by systemd or not: the kubelet's setting must fit to both.
std::string cgroup_option(const Lines& lines, const TomlPath& runtimes) {
    const TomlPath key = below(below(below(runtimes, "runc"), "options"), "SystemdCgroup");
    for (const TomlLine& line : lines)
        if (line.key == key) return "SystemdCgroup = " + line.value + "\n";
    return {};
}

/// The texts in a list, which may go on in the lines after that of its key.
std::vector<std::string> texts_of(const Lines& lines, const TomlPath& key) {
    std::vector<std::string> texts;
    bool in_it = false;
    for (const TomlLine& line : lines) {
        if (line.is_header || !line.key.empty()) in_it = line.key == key;
        if (!in_it) continue;
        const std::string& part = line.key.empty() ? line.text : line.value;
        for (std::size_t at = 0;
             (at = part.find_first_of("\"'#", at)) != std::string::npos && part[at] != '#'; ++at) {
            const auto end = part.find(part[at], at + 1);
            if (end == std::string::npos) break;
            texts.push_back(part.substr(at + 1, end - at - 1));
            at = end;
        }
    }
    return texts;
}

/// The name by which the CRI plugin, or that part of it which has the runtimes, is disabled; empty: it isn't.
std::string disabled_plugin(const Lines& lines) {
    constexpr std::array<std::string_view, 3> kPlugins = {"cri", "io.containerd.grpc.v1.cri",
                                                          "io.containerd.cri.v1.runtime"};
    for (std::string& name : texts_of(lines, {"disabled_plugins"}))
        if (std::ranges::find(kPlugins, name) != kPlugins.end()) return std::move(name);
    return {};
}

Result<void> check(const Lines& lines, const std::string& version, const TomlPath& runtimes) {
    if (const std::string name = disabled_plugin(lines); !name.empty())
        return client::fail(
            Kind::refused,
            "disabled_plugins has " + name +
                ", the plugin that would have the runtime, as packages made for Docker alone have "
                "it. Try: take it out of the list, unless only Docker uses this containerd, which "
                "needs cgpuctl runtime configure alone.");
    if (version != "2" && version != "3")
        return client::fail(
            Kind::refused,
            "containerd's configuration is of version " + version +
                ", and the runtime can be registered in versions 2 and 3. Try: write it anew for "
                "version 2 (containerd config default prints one).");
    const TomlPath ours = below(runtimes, "cgpu");
    for (const TomlLine& line : lines) {
        if (line.key.empty() || starts_with(line.table, ours)) continue;
        const bool in_table_of_one = starts_with(line.table, runtimes) && line.table != runtimes;
        if (!starts_with(ours, line.key) && (!starts_with(line.key, runtimes) || in_table_of_one)) continue;
        const auto begin = line.text.find_first_not_of(" \t");
        return client::fail(Kind::refused,
                            "containerd's configuration has runtimes in another form than tables: " +
                                line.text.substr(begin) + ". Try: write them as tables, such as " +
                                header(below(runtimes, "runc")) + ".");
    }
    return {};
}

}  // namespace

Result<std::string> with_containerd_runtime(const std::string& text, const std::string& program) {
    const bool fresh = text.find_first_not_of(" \t\r\n") == std::string::npos;
    const Lines all = toml_lines(fresh ? kNewFile : text);
    const std::string version = version_of(all);
    const TomlPath where = runtimes(version);
    if (auto checked = check(all, version, where); !checked) return tl::unexpected(checked.error());
    const Lines others = without_ours(all, where);
    const bool has_some = std::any_of(others.begin(), others.end(), [&](const TomlLine& line) {
        return line.is_header && line.table.size() > where.size() && starts_with(line.table, where);
    });
    std::string next = text_of(others) + (has_some ? "" : table_of(below(where, "runc"))) +
                       table_of(below(where, "cgpu")) + "\n" +
                       header(below(below(where, "cgpu"), "options")) + "\nBinaryName = \"" + program +
                       "\"\n" + cgroup_option(others, where);
    const Lines read = toml_lines(next);
    const bool there = std::any_of(read.begin(), read.end(), [&](const TomlLine& line) {
        return line.is_header && line.table == below(where, "cgpu");
    });
    if (there) return next;
    return client::fail(
        Kind::refused,
        "containerd's configuration ends within a value. Try: containerd config dump, which says "
        "where it can't be read.");
}

Result<void> check_containerd_dump(const std::string& dump, const std::string& program) {
    const Lines lines = toml_lines(dump);
    if (const std::string name = disabled_plugin(lines); !name.empty())
        return client::fail(Kind::refused, "disabled_plugins has " + name +
                                               ", by a file that this one imports. Try: take it out there.");
    const TomlPath ours = below(runtimes(version_of(lines)), "cgpu");
    const TomlPath key = below(below(ours, "options"), "BinaryName");
    const bool there = std::any_of(lines.begin(), lines.end(), [&](const TomlLine& line) {
        return line.key == key && line.value.find(program) != std::string::npos;
    });
    if (there) return {};
    return client::fail(
        Kind::refused,
        "containerd reads it and doesn't find the runtime cgpu: a file that this one imports has "
        "the section of the plugin, too, and its own counts. Try: take the section out of that "
        "file, or name it with --file.");
}

std::string without_containerd_runtime(const std::string& text) {
    Lines lines = toml_lines(text);
    for (const char* version : {"2", "3"}) lines = without_ours(std::move(lines), runtimes(version));
    const std::string left = text_of(lines);
    return left == kNewFile ? "" : left;
}

bool imports_files(const std::string& text) { return !texts_of(toml_lines(text), {"imports"}).empty(); }

std::string without_changes(const std::string& text) {
    const std::string whole = text_of(toml_lines(text));
    return whole == kNewFile ? "" : whole;
}

}  // namespace cgpu::cgpuctl
