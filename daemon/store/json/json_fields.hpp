#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

namespace cgpu::store {

/// The place of the entry `n` of a list: `instances[2]`.
[[nodiscard]] inline std::string item(const std::string& list, std::size_t n) {
    return list + "[" + std::to_string(n) + "]";
}

/// Takes the fields out of one JSON object. Keeps the first fault, with its place in the document
/// (`instances[2].quotas[0].weight`). Later fields are then returned empty, so that a reader can continue to
/// its end and check once.
class Fields {
  public:
    /// `error` is shared by all readers of a document; empty as long as there is no fault.
    Fields(const nlohmann::json& object, std::string place, std::string& error);

    std::uint64_t number(const char* name, std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
    std::uint32_t number32(const char* name);
    std::string text(const char* name);
    bool flag(const char* name);
    /// An array or object below this one; null if it is missing or of another type.
    const nlohmann::json* array(const char* name);
    const nlohmann::json* object(const char* name);
    const nlohmann::json* object_if_there(const char* name);
    /// A text that is passed to a parser, which returns its own error.
    template <typename Parser>
    auto parsed(const char* name, Parser parse) {
        const auto value = parse(text(name));
        if (!value) fail(place_of(name), value.error());
        return value ? std::optional(*value) : std::nullopt;
    }
    /// A fault in the value of this field.
    void fault(const char* name, const std::string& why) { fail(place_of(name), why); }
    /// Call last: refuses fields that were not read, because they would be lost at the next save.
    void refuse_others();

    [[nodiscard]] std::string place_of(const char* name) const;

  private:
    const nlohmann::json* find(const char* name, const char* kind, bool (*is_kind)(const nlohmann::json&));
    void fail(const std::string& place, const std::string& why);

    const nlohmann::json& json_;
    std::string place_;
    std::string& error_;
    std::set<std::string> asked_;
};

}  // namespace cgpu::store
