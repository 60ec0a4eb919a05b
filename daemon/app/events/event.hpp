#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "core/model/gpu.hpp"
#include "core/model/instance.hpp"
#include "daemon/app/events/event_type.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {

/// Who asked for a change, as the bus identifies the caller.
struct Who {
    std::uint32_t user = 0;  ///< effective user id
    std::int32_t pid = 0;    ///< of the host; 0: unknown

    friend bool operator==(const Who&, const Who&) = default;
};

/// `user id 0, process 123`, for messages.
[[nodiscard]] std::string describe(const Who& who);

/// Something that an administrator may want to know of later: one line of the log with its parts.
struct Event {
    EventType type = EventType::daemon_started;
    log::Level level = log::Level::info;
    /// The line. It names its subject first, as lines of the log do (ports/log.hpp).
    std::string message{};

    std::optional<model::InstanceId> instance = std::nullopt;
    std::string name{};  ///< of the instance; as others chose it
    std::optional<model::Uuid> gpu = std::nullopt;
    std::optional<std::uint32_t> gpu_index = std::nullopt;
    std::optional<Who> by = std::nullopt;
    std::int32_t process = 0;  ///< host pid of the instance's process that caused it; 0: none
    /// Further values by name: `setting`, `before`, `limit` (bytes), … docs/cgpud.8 has the list.
    std::map<std::string, std::variant<std::string, std::uint64_t>> details{};
};

/// An event about an instance, or about a GPU.
[[nodiscard]] Event event_of(EventType type, log::Level level, const model::Instance& instance,
                             std::string message);
[[nodiscard]] Event event_of(EventType type, log::Level level, const model::Gpu& gpu, std::string message);

/// What its line is about.
[[nodiscard]] log::Subject subject_of(const Event& event);

/// Whose the instance is, as details: `owner`, a user id, or `declared-owner`.
void set_owner(Event& event, const model::Owner& owner);

/// Also about the GPU.
void set_gpu(Event& event, const model::Gpu& gpu);

}  // namespace cgpu::app
