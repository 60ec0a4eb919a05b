#include "daemon/config/yaml_layer.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "core/model/quote.hpp"

namespace cgpu::config {
namespace {

/// The depth of the deepest key: gpus → a GPU → a setting; limits → users → a user → a limit;
/// profiles → a profile → max → a value.
std::size_t most_depth(const std::string& top) { return top == "limits" || top == "profiles" ? 4 : 3; }

/// Parses a document and drops it.
class Ignore : public YAML::EventHandler {
  public:
    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
};

/// YAML::LoadAll() would tell as well, but in yaml-cpp 0.7 it never returns for a text that begins with a
/// comma.
bool has_more_than_one_document(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Ignore ignore;
    return parser.HandleNextDocument(ignore) && parser.HandleNextDocument(ignore);
}

/// Where a character is that is no part of a text. yaml-cpp takes some of them for the end of it, so what
/// follows would be left out in silence: a disk's fault may leave zeros.
std::optional<std::size_t> find_control_character(std::string_view text) {
    const auto found = std::ranges::find_if(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte == 0x7f || (byte < 0x20 && c != '\t' && c != '\n' && c != '\r');
    });
    if (found == text.end()) return std::nullopt;
    return static_cast<std::size_t>(found - text.begin());
}

/// From 1, as editors count; the first one where the parser doesn't say.
std::uint32_t line_of(const YAML::Mark& mark) {
    return mark.is_null() ? 1 : static_cast<std::uint32_t>(mark.line + 1);
}

/// Whether there is a colon in this line, which counts from 1.
bool has_colon(std::string_view text, std::uint32_t line) {
    while (--line > 0) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    return text.substr(0, text.find('\n')).find(':') != std::string_view::npos;
}

class Flattener {
  public:
    Flattener(const std::string& text, const std::string& file, std::vector<Entry>& entries,
              Problems& problems)
        : text_(text), file_(file), entries_(entries), problems_(problems) {}

    void add_map(const YAML::Node& map, const std::vector<std::string>& above) {
        std::set<std::string> seen;
        for (const auto& item : map) {
            // Aliases make a short text a long list.
            if (entries_.size() + problems_.size() > kMostEntries) return;
            const Origin origin = origin_of(item.first);
            if (!item.first.IsScalar()) {
                problems_.push_back(
                    problem(origin, "a key", "it is not a name", "write a name, a colon and a value"));
                continue;
            }
            std::vector<std::string> path = above;
            path.push_back(item.first.Scalar());
            if (!seen.insert(path.back()).second)
                problems_.push_back(problem(origin, model::quote(path.back()),
                                            "it is there twice in this file", "remove one of the two lines"));
            else
                add_value(item.second, std::move(path), origin);
        }
    }

  private:
    void add_value(const YAML::Node& value, std::vector<std::string> path, const Origin& origin) {
        const std::string what = model::quote(path.back());
        if (value.IsMap()) {
            if (path.size() >= most_depth(path.front()))
                problems_.push_back(
                    problem(origin, what, "a group of keys is not expected here", "give a single value"));
            else if (value.size() == 0)
                entries_.push_back({std::move(path), {}, origin, true});
            else
                add_map(value, path);
        } else if (value.IsSequence()) {
            problems_.push_back(problem(origin, what, "a list is not expected here",
                                        "give a single value, or keys below it"));
        } else if (value.IsScalar()) {
            entries_.push_back({std::move(path), value.Scalar(), origin});
        } else if (has_colon(text_, origin.line)) {
            entries_.push_back({std::move(path), {}, origin, true});
        } else {
            // yaml-cpp takes a last word without a colon for a key: the file was cut off there.
            problems_.push_back(problem(origin, what, kNoValue, kNoValueRemedy));
        }
    }

    Origin origin_of(const YAML::Node& node) const { return {file_, line_of(node.Mark())}; }

    const std::string& text_;
    const std::string& file_;
    std::vector<Entry>& entries_;
    Problems& problems_;
};

}  // namespace

std::vector<Entry> read_yaml(const std::string& text, const std::string& file, Problems& problems) {
    std::vector<Entry> entries;
    if (const auto bad = find_control_character(text)) {
        const auto line =
            1 + std::ranges::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
        problems.push_back(problem({file, static_cast<std::uint32_t>(line)}, "the file",
                                   "it has the control character " + model::quote(text.substr(*bad, 1)) +
                                       " here, which YAML does not allow",
                                   "remove it, and save the file as UTF-8"));
        return entries;
    }
    try {
        const bool one_document = !has_more_than_one_document(text);
        const YAML::Node document = YAML::Load(text);
        if (one_document && document.IsNull()) return entries;
        if (!one_document || !document.IsMap())
            problems.push_back(problem({file, 1}, "the file", "it is not one list of keys and values",
                                       "write lines of the form key: value"));
        else
            Flattener(text, file, entries, problems).add_map(document, {});
    } catch (const YAML::Exception& error) {
        problems.push_back(problem({file, line_of(error.mark)}, "the file",
                                   "it is not YAML here: " + model::quote(error.msg),
                                   "write lines of the form key: value, indented with blanks"));
    }
    return entries;
}

}  // namespace cgpu::config
