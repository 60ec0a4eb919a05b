#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/app/ports/configuration.hpp"
#include "daemon/app/ports/history_store.hpp"
#include "daemon/app/ports/ports.hpp"

/// What an administrator's check of the node asks cgpud for, because nobody else may or can know it.
namespace cgpu::app {

/// Whether the driver itself can limit the memory that cgroups have of a GPU. cgpu doesn't use that.
struct DriverLimits {
    enum class Backend {
        none,
        misc,  ///< the driver's own accounts
        dmem,  ///< the kernel's controller of that name
    };
    /// As they are written, on the bus too.
    static constexpr std::array<std::pair<Backend, const char*>, 3> kNames{
        {{Backend::none, "none"}, {Backend::misc, "misc"}, {Backend::dmem, "dmem"}}};
    [[nodiscard]] const char* backend_name() const {
        return kNames.at(static_cast<std::size_t>(backend)).second;
    }

    Backend backend = Backend::none;
    std::string why_none;  ///< without a full stop; empty if there is a backend
    /// What the driver limits the cgroup of cgpu-nvml to, by which it shows cgpu-nvml, and so cgpud, a
    /// smaller card.
    std::optional<model::Bytes> own_limit;

    friend bool operator==(const DriverLimits&, const DriverLimits&) = default;
};

/// What the driver says of a GPU now.
struct ExaminedGpu {
    model::Uuid uuid;
    std::optional<bool> persistence;  ///< persistence mode; empty: the driver doesn't say
    std::vector<DriverProcess> processes;
    DriverLimits limits = {};
};

struct ExaminedDriver {
    std::string version;  ///< of the driver's libraries, as NVML says it; empty: it doesn't
    std::vector<ExaminedGpu> gpus;
};

/// The driver, asked for an examination. It can hang, so its answer comes later, on the loop.
class DriverExamination {
  public:
    virtual ~DriverExamination() = default;
    /// Calls that come while one is under way get its answer. Refused: as Gpus::list.
    virtual void examine(std::function<void(const Result<ExaminedDriver>&)> call) = 0;
};

/// The folders that cgpud uses.
struct Folders {
    std::filesystem::path state;
    std::filesystem::path runtime;
    std::filesystem::path module;
};

/// What clients ask about cgpud and the node as a whole, and who can answer it.
struct Examined {
    DriverExamination& driver;
    Folders folders;
    std::function<ConfigurationValues()> configuration;
    HistoryStore& history;
    HistoryStore& days;
};

}  // namespace cgpu::app
