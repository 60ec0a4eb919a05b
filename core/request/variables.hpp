#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/refusal.hpp"
#include "core/request/request.hpp"

/// The small readers that the parsers of requests share.
namespace cgpu::request {

namespace names {
constexpr std::string_view kMemContainer = "ALIYUN_COM_GPU_MEM_CONTAINER";
constexpr std::string_view kMemDev = "ALIYUN_COM_GPU_MEM_DEV";
constexpr std::string_view kMemUnit = "ALIYUN_COM_GPU_MEM_UNIT";
constexpr std::string_view kVisibleDevices = "ALIYUN_COM_GPU_VISIBLE_DEVICES";
constexpr std::string_view kSchdWeight = "ALIYUN_COM_GPU_SCHD_WEIGHT";
constexpr std::string_view kHighPrio = "ALIYUN_COM_GPU_HIGH_PRIO";
constexpr std::string_view kNvidiaDevices = "NVIDIA_VISIBLE_DEVICES";
constexpr std::string_view kDisable = "CGPU_DISABLE";
constexpr std::string_view kMem = "CGPU_MEM";
constexpr std::string_view kCompute = "CGPU_COMPUTE";
constexpr std::string_view kWeight = "CGPU_WEIGHT";
constexpr std::string_view kGpus = "CGPU_GPUS";
constexpr std::string_view kPrio = "CGPU_PRIO";
constexpr std::string_view kMode = "CGPU_MODE";
constexpr std::string_view kOwner = "CGPU_OWNER";
constexpr std::string_view kProfile = "CGPU_PROFILE";
constexpr std::string_view kTime = "CGPU_TIME";
constexpr std::string_view kIdle = "CGPU_IDLE";
constexpr std::string_view kWait = "CGPU_WAIT";
constexpr std::string_view kReservation = "CGPU_RESERVATION";
/// All of cgpu's own.
inline constexpr std::array kOwn = {kDisable, kMem,     kCompute, kWeight, kGpus, kPrio,       kMode,
                                    kOwner,   kProfile, kTime,    kIdle,   kWait, kReservation};
constexpr std::string_view kVolcanoMem = "volcano.sh/gpu-mem.128Mi";
constexpr std::string_view kVolcanoCore = "volcano.sh/gpu-core.percentage";
constexpr std::string_view kAliyunMem = "aliyun.com/gpu-mem";
constexpr std::string_view kOwnerAnnotation = "org.cgpu.owner";
constexpr std::string_view kAliyunCount = "aliyun.com/gpu-count";
}  // namespace names

/// The value without the blanks around it, or null if the variable is absent.
[[nodiscard]] std::optional<std::string_view> find_trimmed(const Variables& variables, std::string_view name);
/// As find_trimmed(), and null for an empty value too.
[[nodiscard]] std::optional<std::string_view> find_value(const Variables& variables, std::string_view name);

/// The parts between commas, without the blanks around them.
[[nodiscard]] std::vector<std::string_view> split_list(std::string_view text);

/// As split_list(), for names. Between two commas without a name there is none, as NVIDIA's programs have it;
/// a list of no names has an empty one.
[[nodiscard]] std::vector<std::string_view> split_names(std::string_view text);

/// A number in decimal digits and nothing else, or null.
[[nodiscard]] std::optional<std::uint64_t> to_number(std::string_view text);

/// `NAME="value"`, safe to print.
[[nodiscard]] std::string assignment(std::string_view name, std::string_view value);

[[nodiscard]] tl::unexpected<model::Refusal> refuse_value(std::string_view name, std::string_view value,
                                                          std::string_view why, std::string_view remedy);
/// Two variables contradict each other.
[[nodiscard]] tl::unexpected<model::Refusal> refuse_conflict(const Variables& variables, std::string_view a,
                                                             std::string_view b);

/// A number in [low, high], or null if the variable is absent or empty.
[[nodiscard]] tl::expected<std::optional<std::uint32_t>, model::Refusal> read_number(
    const Variables& variables, std::string_view name, std::uint32_t low, std::uint32_t high);

/// A boolean, as 1 or `yes`, 0 or `no` (the words passed), or null if the variable is absent or empty.
[[nodiscard]] tl::expected<std::optional<bool>, model::Refusal> read_bool(const Variables& variables,
                                                                          std::string_view name,
                                                                          std::string_view yes,
                                                                          std::string_view no);

}  // namespace cgpu::request
