#pragma once

#include <array>
#include <string_view>

/// The names on the bus, for both of its sides: cgpu's own, and those of the services that it uses. The XML,
/// the bus policy and the actions of polkit have them, too, which a test compares.
namespace cgpu::bus_names {

inline constexpr const char* kService = "org.cgpu1";
inline constexpr const char* kManager = "/org/cgpu1";
/// In front of an escaped UUID or id; of a job: of its number.
inline constexpr const char* kGpus = "/org/cgpu1/gpu";
inline constexpr const char* kInstances = "/org/cgpu1/instance";
inline constexpr const char* kJobs = "/org/cgpu1/job";
/// In front of what refusals are named: errors.cpp and bus_errors.cpp have the names behind it.
inline constexpr std::string_view kErrors = "org.cgpu1.Error.";

// Actions of polkit.
inline constexpr const char* kRun = "org.cgpu1.run";
inline constexpr const char* kManageInstance = "org.cgpu1.manage-instance";
inline constexpr const char* kManageOwn = "org.cgpu1.manage-own";
inline constexpr const char* kManagePolicy = "org.cgpu1.manage-policy";
inline constexpr const char* kTrace = "org.cgpu1.trace";
inline constexpr const char* kUpgradeModule = "org.cgpu1.upgrade-module";
inline constexpr std::array kActions = {kRun,          kManageOwn, kManageInstance,
                                        kManagePolicy, kTrace,     kUpgradeModule};

/// The bus itself.
inline constexpr const char* kBus = "org.freedesktop.DBus";
inline constexpr const char* kBusPath = "/org/freedesktop/DBus";
inline constexpr std::string_view kBusErrors = "org.freedesktop.DBus.Error.";
inline constexpr const char* kFailed = "org.freedesktop.DBus.Error.Failed";
inline constexpr const char* kProperties = "org.freedesktop.DBus.Properties";
inline constexpr const char* kObjectManager = "org.freedesktop.DBus.ObjectManager";

inline constexpr const char* kSystemd = "org.freedesktop.systemd1";
inline constexpr const char* kSystemdPath = "/org/freedesktop/systemd1";
inline constexpr const char* kSystemdManager = "org.freedesktop.systemd1.Manager";
inline constexpr const char* kSystemdUnit = "org.freedesktop.systemd1.Unit";
inline constexpr const char* kSystemdService = "org.freedesktop.systemd1.Service";

}  // namespace cgpu::bus_names
