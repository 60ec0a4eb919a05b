#include <algorithm>
#include <array>
#include <utility>

#include "core/model/duration.hpp"
#include "core/model/gpu.hpp"
#include "core/model/instance.hpp"
#include "core/model/owner.hpp"
#include "core/model/quote.hpp"
#include "core/request/cdi.hpp"
#include "core/request/memory_variables.hpp"
#include "core/request/profile.hpp"
#include "core/request/request.hpp"
#include "core/request/reservation_variable.hpp"
#include "core/request/variables.hpp"

namespace cgpu::request {
namespace {

using model::Mode;
using model::Refusal;
using Reason = Refusal::Reason;
template <typename T>
using Read = tl::expected<std::optional<T>, Refusal>;

/// Sixteen GPUs by their UUIDs have 700 characters.
constexpr std::size_t kMostLength = 4096;

/// The value of either of two variables for one setting; refused if they differ.
template <typename T>
Read<T> either(const Variables& variables, std::string_view name_a, const Read<T>& a, std::string_view name_b,
               const Read<T>& b) {
    if (!a) return a;
    if (!b) return b;
    if (*a && *b && **a != **b) return refuse_conflict(variables, name_a, name_b);
    return *a ? a : b;
}

/// NVIDIA's names: MIG-…, or GPU:INSTANCE by their indices.
bool names_mig_device(std::string_view entry) {
    const auto colon = entry.find(':');
    return entry.starts_with("MIG-") ||
           (colon != std::string_view::npos && to_number(entry.substr(0, colon)) &&
            to_number(entry.substr(colon + 1)));
}

tl::expected<GpuName, Refusal> read_gpu_name(std::string_view name, std::string_view entry,
                                             std::string_view all) {
    const std::string_view written = entry;
    entry = gpu_of_cdi_name(entry).value_or(entry);
    if (const auto word = model::parse_gpu_word(entry)) return *word;
    if (names_mig_device(entry))
        return refuse_value(name, all,
                            model::quote(written) +
                                " is a MIG instance, and MIG instances are already a fixed "
                                "part of a GPU and are not shared further",
                            "name a GPU that isn't in MIG mode, or set CGPU_DISABLE=1 to get the MIG "
                            "instance as it is");
    return model::refuse(
        Reason::not_found, assignment(name, all),
        model::quote(written) + " is no index, UUID or PCI address of a GPU" +
            (entry.starts_with("GPU-") ? " (of a UUID at least the eight hex digits behind GPU- are needed)"
                                       : ""),
        "for example 0,1 or the UUIDs that nvidia-smi -L shows, or name none to have one chosen");
}

/// An empty list leaves the choice to placement.
Read<std::vector<GpuName>> read_gpu_list(const Variables& variables, std::string_view name) {
    const auto text = find_value(variables, name);
    if (!text) return std::nullopt;
    std::vector<GpuName> gpus;
    // `void` and `none` are NVIDIA's words for no GPU.
    const std::string_view whole = gpu_of_cdi_name(*text).value_or(*text);
    // A name of its volumes says that they name the GPUs.
    if (whole == "none" || whole == "void" || whole.starts_with("/var/run/nvidia-container-devices"))
        return gpus;
    const auto entries = split_names(*text);
    // NVIDIA's programs take a list with `all` as all, and one with `none` or `void` as that word.
    const bool is_nvidias = name == names::kNvidiaDevices;
    const auto names_no_choice = [is_nvidias](std::string_view entry) {
        return gpu_of_cdi_name(entry).value_or(entry) == "all" ||
               (is_nvidias && (entry == "none" || entry == "void"));
    };
    if (std::ranges::any_of(entries, names_no_choice)) return gpus;
    for (const std::string_view entry : entries) {
        const auto gpu = read_gpu_name(name, entry, *text);
        if (!gpu) return tl::unexpected(gpu.error());
        if (std::find(gpus.begin(), gpus.end(), *gpu) != gpus.end())
            return refuse_value(name, *text, "a GPU is named twice", "name each GPU once");
        gpus.push_back(*gpu);
    }
    if (gpus.size() > model::kMaxGpusPerInstance)
        return refuse_value(name, *text, "more GPUs than one container can have",
                            std::to_string(model::kMaxGpusPerInstance) + " GPUs at most");
    return gpus;
}

tl::expected<std::vector<GpuName>, Refusal> read_gpus(const Variables& variables) {
    const auto named = either(variables, names::kGpus, read_gpu_list(variables, names::kGpus),
                              names::kVisibleDevices, read_gpu_list(variables, names::kVisibleDevices));
    if (!named) return tl::unexpected(named.error());
    if (*named) return **named;
    return read_gpu_list(variables, names::kNvidiaDevices).map([](const auto& gpus) {
        return gpus.value_or(std::vector<GpuName>{});
    });
}

Read<std::uint32_t> read_compute(const Variables& variables) {
    const auto text = find_value(variables, names::kCompute);
    if (!text) return std::nullopt;
    const auto number = to_number(text->ends_with('%') ? text->substr(0, text->size() - 1) : *text);
    if (!number || *number < 1 || *number > 100)
        return refuse_value(names::kCompute, *text, "it is not a whole number of per cent", "1% to 100%");
    return static_cast<std::uint32_t>(*number);
}

Read<std::uint32_t> read_huawei_compute(const Variables& variables) {
    auto percent = read_number(variables, names::kVolcanoCore, 1, 100);
    if (percent && *percent && **percent % 5 != 0)
        return refuse_value(names::kVolcanoCore, std::to_string(**percent), "it is not a multiple of 5",
                            (**percent > 5 ? std::to_string(**percent / 5 * 5) + " or " : "") +
                                std::to_string(**percent / 5 * 5 + 5));
    return percent;
}

Read<Mode> read_mode(const Variables& variables) {
    const auto text = find_value(variables, names::kMode);
    if (!text) return std::nullopt;
    const auto mode = model::parse_mode(*text);
    if (!mode) return refuse_value(names::kMode, *text, mode.error(), "none, memory or memory+compute");
    return *mode;
}

/// Compute without memory is refused, and so is any CGPU_* variable that would be ignored silently.
tl::expected<void, Refusal> check_nothing_asked(const Variables& variables) {
    for (const auto name : {names::kCompute, names::kWeight, names::kGpus, names::kPrio, names::kMode,
                            names::kTime, names::kIdle, names::kWait, names::kVolcanoCore}) {
        const auto value = find_value(variables, name);
        if (value)
            return refuse_value(name, *value,
                                "no memory is asked for with it, and nothing is managed without memory",
                                name == names::kVolcanoCore ? "volcano.sh/gpu-mem.128Mi=40 with it"
                                                            : "CGPU_MEM=4GiB with it");
    }
    return {};
}

tl::expected<void, Refusal> read_compute_into(Request& request, const Variables& variables,
                                              bool huawei_only) {
    const auto mode = read_mode(variables);
    if (!mode) return tl::unexpected(mode.error());
    const auto weight =
        either(variables, names::kWeight, read_number(variables, names::kWeight, 1, model::kMaxMaxInst),
               names::kSchdWeight, read_number(variables, names::kSchdWeight, 1, model::kMaxMaxInst));
    if (!weight) return tl::unexpected(weight.error());
    const auto percent = either(variables, names::kCompute, read_compute(variables), names::kVolcanoCore,
                                read_huawei_compute(variables));
    if (!percent) return tl::unexpected(percent.error());
    const auto high = either(variables, names::kPrio, read_bool(variables, names::kPrio, "high", "normal"),
                             names::kHighPrio, read_bool(variables, names::kHighPrio, "high", "normal"));
    if (!high) return tl::unexpected(high.error());
    request.mode = *mode;
    request.weight = *weight;
    request.percent = *percent;
    request.high_priority = *high;
    if (request.mode && *request.mode != Mode::memory_compute && request.percent)
        return refuse_value(names::kMode, model::to_string(*request.mode),
                            "compute is not isolated in this mode, and " + std::to_string(*request.percent) +
                                "% of it is asked for",
                            "CGPU_MODE=memory+compute, or ask for no compute");
    if (huawei_only && !request.mode && !request.weight)
        request.mode = request.percent ? Mode::memory_compute : Mode::memory;
    return {};
}

/// CGPU_GPUS=all: the caller says so. NVIDIA_VISIBLE_DEVICES=all says nothing, because images bring it, and
/// ALIYUN_COM_GPU_VISIBLE_DEVICES=all leaves the choice to placement by cGPU's contract.
bool wants_every_gpu(const Variables& variables) {
    const auto value = find_value(variables, names::kGpus);
    return value && gpu_of_cdi_name(*value).value_or(*value) == "all" &&
           !find_value(variables, names::kAliyunCount);
}

/// The number of GPUs: those named, else aliyun.com/gpu-count, else the length of the memory list.
tl::expected<std::uint32_t, Refusal> count_gpus(const Request& request,
                                                const std::optional<std::uint32_t>& asked) {
    if (request.every_gpu) return 1;  // admission counts them
    const auto listed = static_cast<std::uint32_t>(request.memory.size());
    const auto named = static_cast<std::uint32_t>(request.gpus.size());
    if (named > 0 && asked && *asked != named)
        return refuse_value(names::kAliyunCount, std::to_string(*asked),
                            std::to_string(named) + " GPUs are named", "request as many GPUs as are named");
    const std::uint32_t count = named > 0 ? named : asked.value_or(std::max(listed, 1U));
    if (listed > count || count > model::kMaxGpusPerInstance)
        return model::refuse(Reason::invalid, "memory for " + std::to_string(listed) + " GPUs",
                             std::to_string(std::min<std::size_t>(count, model::kMaxGpusPerInstance)) +
                                 " GPU(s) can be had with this request",
                             "give one number for all GPUs, or one for each GPU");
    return count;
}

/// All that is read.
constexpr std::array kAll = {
    names::kMemContainer, names::kMemDev,      names::kMemUnit,       names::kVisibleDevices,
    names::kSchdWeight,   names::kHighPrio,    names::kNvidiaDevices, names::kDisable,
    names::kMem,          names::kCompute,     names::kWeight,        names::kGpus,
    names::kPrio,         names::kMode,        names::kVolcanoMem,    names::kVolcanoCore,
    names::kAliyunMem,    names::kAliyunCount, names::kOwner,         names::kOwnerAnnotation,
    names::kProfile,      names::kWait,        names::kTime,          names::kIdle,
    names::kReservation};

/// Checked before any value is parsed: the cost of a list grows with its length.
tl::expected<void, Refusal> check_lengths(const Variables& variables) {
    for (const auto name : kAll) {
        const auto value = find_trimmed(variables, name);
        if (value && value->size() > kMostLength)
            return refuse_value(name, *value,
                                "it is longer than " + std::to_string(kMostLength) + " characters",
                                "use a shorter one");
    }
    return {};
}

/// An empty value most likely comes from a variable that isn't set where the request was written
/// (`CGPU_MEM: ${GPU_MEM}` of a compose file). It must not give the whole node.
tl::expected<void, Refusal> check_none_empty(const Variables& variables) {
    for (const auto name : names::kOwn) {
        const auto value = find_trimmed(variables, name);
        if (value && value->empty())
            return refuse_value(name, *value, "it is empty",
                                "give it a value, leave it out, or set CGPU_DISABLE=1 to have no limit");
    }
    return {};
}

/// Whom the container declares to be its owner.
Read<std::string> read_owner(const Variables& variables) {
    const auto read = [&](std::string_view name) -> Read<std::string> {
        const auto text = find_value(variables, name);
        if (!text) return std::nullopt;
        if (const auto valid = model::check_owner_name(*text); !valid)
            return refuse_value(name, *text, valid.error(), "alice, for example");
        return std::string(*text);
    };
    return either(variables, names::kOwner, read(names::kOwner), names::kOwnerAnnotation,
                  read(names::kOwnerAnnotation));
}

Read<std::string> read_profile(const Variables& variables) {
    const auto text = find_value(variables, names::kProfile);
    if (!text) return std::nullopt;
    if (is_profile_name(*text)) return std::string(*text);
    return refuse_value(names::kProfile, *text, "no profile has such a name",
                        "use the name of a profile: letters, digits, - and _");
}

/// How long it waits for its part; empty: not at all.
Read<model::Nanos> read_wait(const Variables& variables) {
    const auto text = find_value(variables, names::kWait);
    if (!text || *text == "0" || *text == "no") return std::nullopt;
    if (*text == kWaitForever) return kForever;
    const auto duration = model::parse_duration(*text);
    if (!duration)
        return refuse_value(names::kWait, *text, duration.error(),
                            "30s, 10m or 1h30m, forever, or 0 to be refused at once");
    return static_cast<model::Nanos>(*duration) * model::kSecond;
}

Read<std::uint64_t> read_duration(const Variables& variables, std::string_view name) {
    const auto text = find_value(variables, name);
    if (!text) return std::nullopt;
    const auto seconds = model::parse_duration(*text);
    if (!seconds) return refuse_value(name, *text, seconds.error(), model::kDurationExamples);
    return *seconds;
}

/// What it says of itself, and not of its part.
tl::expected<void, Refusal> read_about_into(Request& request, const Variables& variables) {
    auto owner = read_owner(variables);
    if (!owner) return tl::unexpected(owner.error());
    request.owner = owner->value_or("");
    const auto wait = read_wait(variables);
    if (!wait) return tl::unexpected(wait.error());
    request.wait = *wait;
    const auto time = read_duration(variables, names::kTime);
    if (!time) return tl::unexpected(time.error());
    request.time = *time;
    const auto idle = read_duration(variables, names::kIdle);
    if (!idle) return tl::unexpected(idle.error());
    request.idle = *idle;
    return {};
}

/// Its part is the reservation's.
tl::expected<std::optional<Request>, Refusal> with_reservation(std::string token,
                                                               const Variables& variables) {
    // Images bring NVIDIA_VISIBLE_DEVICES=all; a GPU by its name is a wish.
    const auto gpus = read_gpus(variables);
    if (!gpus) return tl::unexpected(gpus.error());
    if (!gpus->empty()) return refuse_part(names::kNvidiaDevices);
    Request request;
    request.reservation = std::move(token);
    if (auto read = read_about_into(request, variables); !read) return tl::unexpected(read.error());
    return request;
}

bool is_disabled(const Variables& variables) {
    const auto disabled = read_bool(variables, names::kDisable, "true", "false");
    return disabled && disabled->value_or(false);
}

}  // namespace

bool belongs_to_request(std::string_view name) { return std::ranges::find(kAll, name) != kAll.end(); }

std::string declared_owner(const Variables& variables) {
    if (!check_lengths(variables)) return {};
    const auto owner = read_owner(variables);
    return owner ? owner->value_or("") : std::string();
}

bool declines_management(const Variables& variables) {
    if (!check_lengths(variables)) return false;
    if (is_disabled(variables)) return true;
    const auto memory = read_memory(variables, 1);
    return memory && memory->kind == MemoryWish::Kind::off;
}

tl::expected<std::optional<Request>, Refusal> parse_request(const Variables& variables) {
    if (const auto short_enough = check_lengths(variables); !short_enough)
        return tl::unexpected(short_enough.error());
    const auto disabled = read_bool(variables, names::kDisable, "true", "false");
    if (!disabled) return tl::unexpected(disabled.error());
    if (disabled->value_or(false)) return std::nullopt;
    if (const auto given = check_none_empty(variables); !given) return tl::unexpected(given.error());

    const auto reservation = read_reservation(variables);
    if (!reservation) return tl::unexpected(reservation.error());
    if (*reservation) return with_reservation(**reservation, variables);

    // Errors in these two only matter once it is clear that the container is managed.
    const auto gpus = read_gpus(variables);
    const auto count = read_number(variables, names::kAliyunCount, 1, model::kMaxGpusPerInstance);
    const std::size_t named = gpus ? gpus->size() : 0;
    const auto memory = read_memory(
        variables,
        count.value_or(std::nullopt).value_or(static_cast<std::uint32_t>(std::max<std::size_t>(named, 1))));
    if (!memory) return tl::unexpected(memory.error());
    const auto profile = read_profile(variables);
    if (!profile) return tl::unexpected(profile.error());
    switch (memory->kind) {
        case MemoryWish::Kind::off:
            return std::nullopt;
        case MemoryWish::Kind::absent:
            if (profile->has_value()) break;
            return check_nothing_asked(variables).map([] { return std::optional<Request>(); });
        case MemoryWish::Kind::node_default:
        case MemoryWish::Kind::listed:
            break;
    }
    if (!gpus) return tl::unexpected(gpus.error());
    if (!count) return tl::unexpected(count.error());

    Request request;
    request.memory = memory->per_gpu;
    request.gpus = *gpus;
    request.every_gpu = wants_every_gpu(variables);
    if (request.every_gpu && find_value(variables, names::kAliyunMem))
        return refuse_value(names::kGpus, "all",
                            "by how many GPUs aliyun.com/gpu-mem is to be divided isn't known",
                            "aliyun.com/gpu-count=2, for example, or CGPU_MEM, which is for each GPU");
    const auto number = count_gpus(request, *count);
    if (!number) return tl::unexpected(number.error());
    request.count = *number;
    if (auto read = read_compute_into(request, variables, memory->huawei_only); !read)
        return tl::unexpected(read.error());
    request.profile = profile->value_or("");
    if (auto read = read_about_into(request, variables); !read) return tl::unexpected(read.error());
    return request;
}

}  // namespace cgpu::request
