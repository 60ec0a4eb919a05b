#include "bundle/manifest_text.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "core/model/quote.hpp"

namespace cgpu::bundle {
namespace {

using nlohmann::json;
using upgrade::Manifest;
using upgrade::Version;

/// The format that is written here.
constexpr std::uint32_t kForm = 1;
constexpr std::size_t kSha256Digits = 64;

/// Takes the fields out of the object. Keeps the first fault; later fields are then returned empty.
class Fields {
  public:
    explicit Fields(const json& object) : object_(object) {}

    std::uint32_t number(const char* name) {
        const auto found = object_.find(name);
        if (found == object_.end() || !found->is_number_unsigned() ||
            found->get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max()) {
            fail(name, "is not there as a whole number");
            return 0;
        }
        return found->get<std::uint32_t>();
    }
    std::string text(const char* name) {
        const auto found = object_.find(name);
        if (found == object_.end() || !found->is_string()) {
            fail(name, "is not there as a text");
            return {};
        }
        return found->get<std::string>();
    }
    Version version(const char* name) {
        const auto read = Version::parse(text(name));
        if (!read) fail(name, "is no version such as 1.2.3");
        return read.value_or(Version());
    }
    void fail(const char* name, const std::string& why) {
        if (error_.empty()) error_ = std::string(name) + " " + why;
    }
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    const json& object_;
    std::string error_;
};

/// One flat object. JSON parsers disagree about which of two equal keys counts, so a manifest with such keys
/// is ambiguous.
tl::expected<json, std::string> parse_object(std::string_view text) {
    if (text.size() > kMaxManifest) return tl::unexpected(std::string("it is larger than any manifest"));
    std::set<std::string> keys;
    std::string twice;
    bool nested = false;
    const auto look = [&](int depth, json::parse_event_t event, json& value) {
        if (event == json::parse_event_t::key && depth == 1 && !keys.insert(value.get<std::string>()).second)
            twice = value.get<std::string>();
        if (depth > 0 &&
            (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start))
            nested = true;
        return true;
    };
    const json object = json::parse(text, look, false);
    if (!object.is_object()) return tl::unexpected(std::string("it is no whole JSON object"));
    if (!twice.empty()) return tl::unexpected(model::quote(twice) + " is in it twice");
    if (nested) return tl::unexpected(std::string("it has something else than texts and numbers in it"));
    return object;
}

bool is_sha256(const std::string& text) {
    return text.size() == kSha256Digits && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

std::string why_contradictory(const Manifest& manifest) {
    if (manifest.compatible_from > manifest.version)
        return "compatible_from " + manifest.compatible_from.str() + " is above the version " +
               manifest.version.str();
    if (manifest.engine != upgrade::engine_name(manifest.version))
        return "engine " + model::quote(manifest.engine) + " is not " +
               upgrade::engine_name(manifest.version);
    if (!is_sha256(manifest.sha256)) return "sha256 is not 64 hex digits in lower case";
    return {};
}

}  // namespace

tl::expected<Manifest, std::string> parse_manifest(std::string_view text) {
    const auto object = parse_object(text);
    if (!object) return tl::unexpected(object.error());
    Fields fields(*object);
    const std::uint32_t form = fields.number("manifest");
    if (fields.error().empty() && form != kForm)
        return tl::unexpected("it is of form " + std::to_string(form) +
                              ", and this release of cgpu reads form " + std::to_string(kForm));
    Manifest manifest;
    manifest.version = fields.version("version");
    manifest.abi = fields.number("abi");
    manifest.pages = fields.number("pages");
    manifest.link = fields.number("link");
    manifest.compatible_from = fields.version("compatible_from");
    manifest.least_front = fields.version("least_front");
    manifest.engine = fields.text("engine");
    manifest.sha256 = fields.text("sha256");
    manifest.machine = fields.text("machine");
    if (!fields.error().empty()) return tl::unexpected(fields.error());
    if (const auto why = why_contradictory(manifest); !why.empty()) return tl::unexpected(why);
    return manifest;
}

std::string write_manifest(const Manifest& manifest) {
    const nlohmann::ordered_json object = {
        {"manifest", kForm},
        {"version", manifest.version.str()},
        {"abi", manifest.abi},
        {"pages", manifest.pages},
        {"link", manifest.link},
        {"compatible_from", manifest.compatible_from.str()},
        {"least_front", manifest.least_front.str()},
        {"engine", manifest.engine},
        {"sha256", manifest.sha256},
        {"machine", manifest.machine},
    };
    return object.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace cgpu::bundle
