#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/run/driver/driver_library.hpp"
#include "client/run/files/same_file.hpp"

namespace cgpu::client {

/// Mounts `from` (a file or a folder) at `to`, read-only.
struct Bind {
    enum class Side { host, inside };
    std::string from;
    std::string to;                             ///< inside
    Side side = Side::inside;                   ///< where `from` is looked up
    std::optional<FileId> file = std::nullopt;  ///< what is at `to` must be this file; none: anything

    friend bool operator==(const Bind&, const Bind&) = default;
};

/// A fitted front: with the exports of `driver`, so that look-ups by name give the same results.
struct FittedFront {
    std::string front;   ///< as installed, on the host
    std::string driver;  ///< the driver's file that it stands for, inside
    std::string made;    ///< where it is written, inside

    friend bool operator==(const FittedFront&, const FittedFront&) = default;
};

/// The mounts of a job's or a container's mount namespace, in this order. Nothing outside it changes. Paths
/// are those of the host, or "inside": as the job sees them. For a job of `cgpuctl run` both are the same.
struct MountPlan {
    std::string base;                 ///< a small tmpfs is mounted here and made read-only at the end
    std::vector<Bind> inside;         ///< below base; their sources are taken before base is covered
    std::vector<FittedFront> fronts;  ///< written below base
    std::string nothing;              ///< an empty file below base
    std::vector<Bind> over;           ///< the fitted fronts, or nothing, over the driver's files
};

/// The folder of the fitted fronts. It exists only inside an instance.
constexpr const char* kFrontFolder = "/run/cgpu/front";

/// The file that is mounted over a library, inside: its front or, if it is hidden, an empty file. A loader
/// says of that one that it is too short, and the program continues as on a machine without the library.
[[nodiscard]] std::string cover_of(const DriverLibrary& library);

/// Where the module is installed.
struct ModuleFolders {
    std::string module = "/usr/lib/cgpu/module";  ///< the engine
    std::string front = "/usr/lib/cgpu/front";    ///< the fronts, by the driver's names
};

/// The mounts by which every way to load the driver's libraries leads to the fronts, and the fronts find the
/// module and the daemon (at the paths of core/wire/limits.hpp).
[[nodiscard]] MountPlan plan_mounts(const std::vector<DriverLibrary>& driver, const std::string& link_folder,
                                    const ModuleFolders& installed);

}  // namespace cgpu::client
