#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/limits/rules.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// A user, as the system's name service knows it.
struct Person {
    std::optional<std::uint32_t> user;  ///< empty: it knows no user of the name
    std::string name;                   ///< empty: it has none for the id
    std::vector<limits::Group> groups;  ///< all, the primary one too

    friend bool operator==(const Person&, const Person&) = default;
};

/// A user by its id, or by its name.
using PersonWord = std::variant<std::uint32_t, std::string>;

/// The system's name service, which may take its time.
class People {
  public:
    using Found = std::function<void(const Result<Person>& person)>;

    virtual ~People() = default;
    /// Calls back later, from the loop. Refused (unsupported): it doesn't answer.
    virtual void look_up(const PersonWord& who, Found found) = 0;
};

}  // namespace cgpu::app
