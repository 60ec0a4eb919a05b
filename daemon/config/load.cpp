#include "daemon/config/load.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/model/quote.hpp"
#include "daemon/config/folders.hpp"
#include "daemon/config/slices.hpp"
#include "daemon/config/validate.hpp"
#include "daemon/config/yaml_layer.hpp"
#include "files/read.hpp"

namespace cgpu::config {
namespace {

namespace fs = std::filesystem;

/// What was found while the files were read.
struct Findings {
    Problems problems;
    Problems warnings;
    /// Only what is named is judged: whoever does that may be anybody, who can't read all that cgpud can.
    bool judging = false;
};

void add_unreadable(const fs::path& path, const std::string& why, bool installed, Findings& found) {
    const std::string what = "the file or folder";
    if (found.judging && installed)
        found.warnings.push_back(problem(
            {path.string()}, what, "it can't be read (" + why + "), so the others are judged without it",
            "do the same as root (sudo)"));
    else
        found.problems.push_back(problem({path.string()}, what, "it can't be read (" + why + ")",
                                         "make it readable for the user of cgpud, or remove it"));
}

/// The text of a file; empty if there is no file.
std::optional<std::string> read_file(const fs::path& path, bool installed, Findings& found) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    auto text = files::read_whole(path, kMost);
    if (text) return std::move(*text);
    if (text.error().is_no_file())
        found.problems.push_back(
            problem({path.string()}, "the file", text.error().why(), "put a file there, or remove it"));
    else
        add_unreadable(path, text.error().why(), installed, found);
    return std::nullopt;
}

/// What editors and dpkg leave beside a file, and what isn't shown.
bool is_meant_to_be_ignored(std::string_view name) {
    constexpr std::string_view kLeft[] = {"~",          ".bak",      ".disabled", ".dpkg-bak",
                                          ".dpkg-dist", ".dpkg-new", ".dpkg-old", ".dpkg-tmp",
                                          ".old",       ".orig",     ".swp"};
    return name.starts_with('.') || name.starts_with("README") ||
           std::ranges::any_of(kLeft, [&](std::string_view end) { return name.ends_with(end); });
}

std::vector<fs::path> list_drop_ins(const fs::path& folder, Findings& found) {
    std::vector<fs::path> files;
    std::vector<fs::path> others;
    std::error_code error;
    fs::directory_iterator it(folder, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
        const fs::path& path = it->path();
        if (is_meant_to_be_ignored(path.filename().native())) continue;
        (path.extension() == ".yaml" ? files : others).push_back(path);
    }
    if (error && error != std::errc::no_such_file_or_directory)
        add_unreadable(folder, error.message(), true, found);
    std::ranges::sort(files);
    std::ranges::sort(others);
    for (const fs::path& path : others)
        found.warnings.push_back(problem({path.string()}, "the file",
                                         "it is not read, because its name does not end with .yaml",
                                         "rename it, or put it elsewhere"));
    return files;
}

/// Names may contain dots, keys don't: the first part of a path is a key, and for a GPU the last part, too.
std::vector<std::string> split_path(const std::string& text) {
    const auto first = text.find('.');
    if (first == std::string::npos) return {text};
    const std::string top = text.substr(0, first);
    const std::string rest = text.substr(first + 1);
    const auto last = rest.rfind('.');
    if (top == "profiles") {
        std::vector<std::string> path{top};
        for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
            end = rest.find('.', at);
            path.push_back(rest.substr(at, end - at));
        }
        return path;
    }
    if (top == "limits" && last != std::string::npos) {
        // limits.default.memory, and limits.users.NAME.memory, whose NAME may have dots.
        const auto second = rest.find('.');
        if (second == last) return {top, rest.substr(0, last), rest.substr(last + 1)};
        return {top, rest.substr(0, second), rest.substr(second + 1, last - second - 1),
                rest.substr(last + 1)};
    }
    if (top != "gpus" || last == std::string::npos) return {top, rest};
    return {top, rest.substr(0, last), rest.substr(last + 1)};
}

void add_override(const std::string& text, std::vector<Entry>& entries, Problems& problems) {
    const Origin origin{"command line"};
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        problems.push_back(problem(origin, model::quote(text), "it is not of the form key=value",
                                   "for example max_inst=10"));
    else
        entries.push_back({split_path(text.substr(0, equals)), text.substr(equals + 1), origin});
}

/// All clients get them: a file of another kind may have one in each of its lines.
Problems shortened(Problems problems) {
    constexpr std::size_t kMost = 100;
    if (problems.size() <= kMost) return problems;
    const std::size_t more = problems.size() - kMost;
    problems.resize(kMost);
    problems.push_back(problem(problems.back().origin, "the files",
                               "they have " + std::to_string(more) + " more faults", "mend these first"));
    return problems;
}

/// It sets nothing.
bool is_empty_group(const Entry& entry) { return entry.is_empty; }

bool is_there(const fs::path& path) {
    std::error_code error;
    return fs::status(path, error).type() != fs::file_type::not_found;
}

/// The files in the order in which they count. What is only judged is read as if it were in place: instead of
/// the file that has its name there, else as one more drop-in.
std::vector<fs::path> files_of(const Sources& sources, Findings& found) {
    std::vector<fs::path> main = {sources.main};
    std::vector<fs::path> drop_ins = list_drop_ins(sources.drop_ins, found);
    const auto place_of = [&](const fs::path& path) -> std::vector<fs::path>& {
        return path.filename() == sources.main.filename() ? main : drop_ins;
    };
    for (const fs::path& path : sources.judged)
        std::erase_if(place_of(path),
                      [&](const fs::path& other) { return other.filename() == path.filename(); });
    for (const fs::path& path : sources.judged) {
        if (is_there(path))
            place_of(path).push_back(path);
        else
            found.problems.push_back(
                problem({path.string()}, "the file", "it does not exist", "name a file that does"));
    }
    std::ranges::stable_sort(drop_ins, {}, [](const fs::path& path) { return path.filename(); });
    std::vector<fs::path> files = {sources.defaults};
    for (const auto* some : {&main, &drop_ins}) files.insert(files.end(), some->begin(), some->end());
    return files;
}

tl::expected<Loaded, Problems> load_files(const Sources& sources) {
    Findings found;
    found.judging = !sources.judged.empty();
    Problems& problems = found.problems;
    std::vector<Entry> entries;
    for (const fs::path& path : files_of(sources, found)) {
        const auto text = read_file(path, std::ranges::count(sources.judged, path) == 0, found);
        if (!text) continue;
        for (Entry& entry : read_yaml(*text, path.string(), problems)) entries.push_back(std::move(entry));
        if (entries.size() <= kMostEntries) continue;
        problems.push_back(
            problem({path.string()}, "the file",
                    "with it, the files have more than " + std::to_string(kMostEntries) + " values",
                    "remove those that no container has"));
        return tl::unexpected(std::move(problems));
    }
    for (const std::string& text : sources.overrides) add_override(text, entries, problems);
    Config config = validate(entries, problems);
    std::erase_if(entries, &is_empty_group);
    check_folders(config, entries, problems);
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    for (Problem& odd : odd_percentages(config, entries)) found.warnings.push_back(std::move(odd));
    return Loaded{std::move(config), std::move(entries), std::move(found.warnings)};
}

}  // namespace

tl::expected<Loaded, Problems> load(const Sources& sources) {
    return load_files(sources).map_error(&shortened);
}

}  // namespace cgpu::config
