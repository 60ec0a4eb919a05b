#include "client/run/job/run_request.hpp"

#include <array>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "core/request/request.hpp"
#include "core/request/unknown_name.hpp"
#include "core/request/variables.hpp"

namespace cgpu::client {
namespace {

namespace names = request::names;

/// A flag, the variable it becomes, and the other variables that mean the same.
struct Meaning {
    std::string RunFlags::*flag;
    std::string_view option;
    std::string_view variable;
    std::vector<std::string_view> same;
};

const std::vector<Meaning>& meanings() {
    static const std::vector<Meaning> all = {
        {&RunFlags::memory,
         "--mem",
         names::kMem,
         {names::kMemContainer, names::kMemDev, names::kMemUnit, names::kVolcanoMem, names::kAliyunMem}},
        {&RunFlags::weight,
         "--weight",
         names::kWeight,
         {names::kSchdWeight, names::kCompute, names::kVolcanoCore}},
        {&RunFlags::compute,
         "--compute",
         names::kCompute,
         {names::kVolcanoCore, names::kWeight, names::kSchdWeight}},
        {&RunFlags::profile, "--profile", names::kProfile, {}},
        {&RunFlags::wait, "--wait", names::kWait, {}},
        {&RunFlags::time, "--time", names::kTime, {}},
        {&RunFlags::idle, "--idle", names::kIdle, {}},
        {&RunFlags::priority, "--prio", names::kPrio, {names::kHighPrio}},
        {&RunFlags::gpus,
         "--gpus",
         names::kGpus,
         {names::kVisibleDevices, names::kNvidiaDevices, names::kAliyunCount}},
    };
    return all;
}

/// The user wrote the flag, not the variable that it became, so messages name the flag.
std::string in_flags(std::string text, const RunFlags& flags) {
    constexpr std::string_view kTryVariable = "Try: CGPU_MEM=";
    if (const auto at = text.find(kTryVariable); at != std::string::npos)
        text.replace(at, kTryVariable.size(), "Try: --mem ");
    for (const Meaning& meaning : meanings()) {
        const std::string start = std::string(meaning.variable) + "=";
        if (!(flags.*meaning.flag).empty() && text.starts_with(start))
            return std::string(meaning.option) + " " + text.substr(start.size());
    }
    return text;
}

}  // namespace

Variables whole_environment() {
    Variables variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals != std::string_view::npos)
            variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return variables;
}

bool asks_for_gpu(std::string_view name) {
    constexpr std::array<std::string_view, 5> kPrefixes = {"ALIYUN_COM_GPU_", "CGPU_", "aliyun.com/gpu-",
                                                           "volcano.sh/gpu-", names::kOwnerAnnotation};
    for (const std::string_view prefix : kPrefixes)
        if (name.starts_with(prefix)) return true;
    return name == names::kNvidiaDevices;
}

Result<Variables> request_variables(const RunFlags& flags, const Variables& environment) {
    using Kind = ClientError::Kind;
    if (!flags.weight.empty() && !flags.compute.empty())
        return fail(Kind::usage,
                    "--weight and --compute: they set the same thing. Try: use only one of them.");
    Variables variables;
    for (const auto& [name, value] : environment)
        if (asks_for_gpu(name)) variables.emplace(name, value);
    for (const Meaning& meaning : meanings()) {
        if ((flags.*meaning.flag).empty()) continue;
        for (const std::string_view same : meaning.same) variables.erase(std::string(same));
        variables[std::string(meaning.variable)] = flags.*meaning.flag;
    }
    const auto request = request::parse_request(variables);
    if (!request) {
        // No GPU of that name is the same error wherever a GPU is named.
        const bool no_gpu = request.error().reason == model::Refusal::Reason::not_found;
        return fail(no_gpu ? Kind::not_found : Kind::usage, in_flags(request.error().text, flags));
    }
    if (*request) return variables;
    if (const auto unknown = request::find_unknown_name(variables))
        return fail(Kind::usage, request::refuse_unknown_name(*unknown).text);
    if (request::declines_management(variables)) return Variables{};
    return fail(Kind::usage, "cgpuctl run: nothing asks for GPU memory. Try: --mem 4GiB.");
}

}  // namespace cgpu::client
