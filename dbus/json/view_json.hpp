#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/view/fields.hpp"
#include "core/view/usage.hpp"

/// Any view as JSON, and back: the names are those of its fields (core/view). Keys are stable; units are
/// bytes, seconds, shares of 0..1.
namespace cgpu::view {

using Json = nlohmann::ordered_json;

template <class T>
[[nodiscard]] Json to_json(const T& value);

constexpr double kNanosPerSecond = 1e9;
constexpr double kPerCentOfAll = 100;

/// Writes fields into an object.
class JsonWriter {
  public:
    explicit JsonWriter(Json& object) : object_(object) {}

    template <class T>
    void value(const char* name, const T& member) {
        object_[name] = member;
    }
    template <class T>
    void value(const char* name, const std::optional<T>& member) {
        object_[name] = member ? Json(*member) : Json();
    }
    void seconds(const char* name, std::uint64_t nanoseconds) {
        object_[name] = static_cast<double>(nanoseconds) / kNanosPerSecond;
    }
    void seconds(const char* name, const std::optional<std::uint64_t>& nanoseconds) {
        object_[name] = Json();
        if (nanoseconds) seconds(name, *nanoseconds);
    }
    void per_cent(const char* name, std::uint32_t cent) { object_[name] = cent / kPerCentOfAll; }
    void per_cent(const char* name, const std::optional<std::uint32_t>& cent) {
        object_[name] = cent ? Json(*cent / kPerCentOfAll) : Json();
    }
    void by_number(const char* name, const std::map<std::uint32_t, std::uint64_t>& all) {
        Json& to = object_[name] = Json::object();
        for (const auto& [key, each] : all) to[std::to_string(key)] = each;
    }
    void waits(const char* name, const LaunchWaits& waits) {
        Json& list = object_[name] = Json::array();
        for (std::size_t i = 0; i < waits.counts.size(); ++i) {
            const std::int64_t most = LaunchWaits::most(i);
            list.push_back({{"at_most_seconds",
                             most == INT64_MAX ? Json() : Json(static_cast<double>(most) / kNanosPerSecond)},
                            {"launches", waits.counts[i]}});
        }
    }
    template <class T>
    void one(const char* name, const std::optional<T>& member) {
        object_[name] = member ? to_json(*member) : Json();
    }
    template <class T>
    void list(const char* name, const std::vector<T>& members) {
        Json& to = object_[name] = Json::array();
        for (const T& each : members) to.push_back(to_json(each));
    }
    template <class T>
    void merge(const T& member) {
        fields(*this, member);
    }

  private:
    Json& object_;
};

template <class T>
Json to_json(const T& value) {
    Json object = Json::object();
    JsonWriter writer(object);
    fields(writer, value);
    return object;
}

/// Reads the fields that an object has; what it lacks, or has as null, stays as it is: another release may
/// have written it. Throws nlohmann::json::exception where a value is of another kind.
class JsonReader {
  public:
    explicit JsonReader(const nlohmann::json& object) : object_(object) {}

    template <class T>
    void value(const char* name, T& member) {
        if (const auto* found = find(name)) found->get_to(member);
    }
    template <class T>
    void value(const char* name, std::optional<T>& member) {
        if (const auto* found = find(name)) member = found->template get<T>();
    }
    void seconds(const char* name, std::uint64_t& nanoseconds) {
        if (const auto* found = find(name)) nanoseconds = to_nanos(*found);
    }
    void seconds(const char* name, std::optional<std::uint64_t>& nanoseconds) {
        if (const auto* found = find(name)) nanoseconds = to_nanos(*found);
    }
    void per_cent(const char* name, std::uint32_t& cent) {
        if (const auto* found = find(name)) cent = to_cent(*found);
    }
    void per_cent(const char* name, std::optional<std::uint32_t>& cent) {
        if (const auto* found = find(name)) cent = to_cent(*found);
    }
    void by_number(const char* name, std::map<std::uint32_t, std::uint64_t>& all) {
        const auto* found = find(name);
        if (found == nullptr) return;
        for (const auto& [key, each] : found->items())
            all.emplace(static_cast<std::uint32_t>(std::strtoul(key.c_str(), nullptr, 10)),
                        each.get<std::uint64_t>());
    }
    void waits(const char* name, LaunchWaits& waits) {
        const auto* found = find(name);
        if (found == nullptr) return;
        for (std::size_t i = 0; i < std::min(found->size(), waits.counts.size()); ++i)
            found->at(i).at("launches").get_to(waits.counts[i]);
    }
    template <class T>
    void one(const char* name, std::optional<T>& member) {
        if (const auto* found = find(name)) read(*found, member.emplace());
    }
    template <class T>
    void list(const char* name, std::vector<T>& members) {
        const auto* found = find(name);
        if (found == nullptr) return;
        for (const auto& each : found->get_ref<const nlohmann::json::array_t&>())
            read(each, members.emplace_back());
    }
    template <class T>
    void merge(T& member) {
        fields(*this, member);
    }
    template <class T>
    static void read(const nlohmann::json& object, T& value) {
        static_cast<void>(object.get_ref<const nlohmann::json::object_t&>());  // throws if it is none
        JsonReader reader(object);
        fields(reader, value);
    }

  private:
    [[nodiscard]] const nlohmann::json* find(const char* name) const {
        const auto found = object_.find(name);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }
    static std::uint64_t to_nanos(const nlohmann::json& seconds) {
        return static_cast<std::uint64_t>(std::llround(seconds.get<double>() * kNanosPerSecond));
    }
    static std::uint32_t to_cent(const nlohmann::json& share) {
        return static_cast<std::uint32_t>(std::lround(share.get<double>() * kPerCentOfAll));
    }

    const nlohmann::json& object_;
};

}  // namespace cgpu::view
