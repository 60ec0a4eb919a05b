#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/bytes.hpp"
#include "core/model/instance.hpp"

/// What owners of instances may have at most, as the configuration says it.
namespace cgpu::limits {

/// As a number, or as bytes: as many as there are.
constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();
constexpr model::Bytes kUnlimitedMemory{std::numeric_limits<std::uint64_t>::max()};
constexpr std::uint64_t kUnlimitedTime = std::numeric_limits<std::uint64_t>::max();

/// What one owner may have at most, over all its instances. An empty part says nothing, and a wider rule
/// counts.
struct Rule {
    std::optional<std::uint32_t> instances = std::nullopt;
    std::optional<std::uint32_t> gpus = std::nullopt;           ///< different ones at once
    std::optional<model::Bytes> memory = std::nullopt;          ///< the sum of its limits on all GPUs
    std::optional<model::Bytes> memory_per_gpu = std::nullopt;  ///< the sum of its limits on one GPU
    /// Per cent of the compute of each GPU, 1..100: so many of its slices. 100 is no limit.
    std::optional<std::uint32_t> compute = std::nullopt;
    std::optional<bool> priority = std::nullopt;       ///< whether it may have high priority
    std::optional<std::uint64_t> time = std::nullopt;  ///< of each instance, in seconds
    std::optional<std::uint64_t> idle = std::nullopt;  ///< the same without work

    friend bool operator==(const Rule&, const Rule&) = default;
};

/// The limits of the configuration, by the names that stand there.
struct Rules {
    std::map<std::string, Rule> users;   ///< names or user ids
    std::map<std::string, Rule> groups;  ///< names or group ids; each member may have so much
    Rule others;                         ///< `default`: of users other than root
    Rule containers;                     ///< of all containers of root's engine together that nobody owns
    /// Whether a container of root's engine counts as that user's that it declares.
    bool trust_declared_owners = false;

    [[nodiscard]] bool empty() const { return *this == Rules{}; }
    friend bool operator==(const Rules&, const Rules&) = default;
};

/// A group of users, as the system knows it.
struct Group {
    std::uint32_t id = 0;
    std::string name;  ///< empty: the system has none for the id

    friend bool operator==(const Group&, const Group&) = default;
};

/// Whose instances are counted together, and are bound by the same rules.
struct Holder {
    enum class Kind {
        containers,  ///< of root's engine, all that nobody owns
        user,        ///< a unix user
        declared,    ///< whom a container declares, where that is trusted and the system knows no such user
    };
    Kind kind = Kind::containers;
    std::uint32_t user = 0;
    std::string name = {};  ///< of the user; empty: the system has none for the id
    std::vector<Group> groups = {};

    friend bool operator==(const Holder&, const Holder&) = default;
};

/// `alice`, `user id 1000` if it has no name, `alice (declared)`, `the containers of root's engine together`.
[[nodiscard]] std::string describe(const Holder& holder);

/// Whether the instance is one of the holder's.
[[nodiscard]] bool is_held(const Rules& rules, const Holder& holder, const model::Owner& owner);

/// A part of the rule in force, and the key of the configuration that says it.
template <class Value>
struct Part {
    Value most;
    std::string key;  ///< `limits.groups.students.memory`
};

/// What holds for one holder: of each part the narrowest rule that says it. That is the rule of the user,
/// then the strictest of its groups, then the default.
struct InForce {
    std::optional<Part<std::uint32_t>> instances;
    std::optional<Part<std::uint32_t>> gpus;
    std::optional<Part<model::Bytes>> memory;
    std::optional<Part<model::Bytes>> memory_per_gpu;
    std::optional<Part<std::uint32_t>> compute;
    std::optional<Part<bool>> priority;
    std::optional<Part<std::uint64_t>> time;
    std::optional<Part<std::uint64_t>> idle;

    [[nodiscard]] bool empty() const {
        return !instances && !gpus && !memory && !memory_per_gpu && !compute && !priority && !time && !idle;
    }
};

[[nodiscard]] InForce in_force(const Rules& rules, const Holder& holder);

}  // namespace cgpu::limits
