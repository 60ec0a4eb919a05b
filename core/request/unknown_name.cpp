#include "core/request/unknown_name.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/model/quote.hpp"
#include "core/model/similar.hpp"
#include "core/request/reservation_variable.hpp"
#include "core/request/variables.hpp"

namespace cgpu::request {
namespace {

constexpr std::string_view kOwn = "CGPU_";
constexpr std::string_view kAliyun = "ALIYUN_COM_GPU_";

constexpr std::array kAsking = {
    names::kMemContainer, names::kMemDev,  names::kMemUnit, names::kVisibleDevices, names::kSchdWeight,
    names::kHighPrio,     names::kDisable, names::kMem,     names::kCompute,        names::kWeight,
    names::kGpus,         names::kPrio,    names::kMode,    names::kOwner,          names::kProfile,
    names::kTime,         names::kWait,    names::kIdle,    names::kReservation};

/// Known variables that request nothing. The first ones are set by Alibaba's scheduler for Kubernetes.
constexpr std::array<std::string_view, 7> kSilent = {"ALIYUN_COM_GPU_MEM_IDX",
                                                     "ALIYUN_COM_GPU_MEM_POD",
                                                     "ALIYUN_COM_GPU_MEM_ASSIGNED",
                                                     "ALIYUN_COM_GPU_MEM_ASSUME_TIME",
                                                     "CGPU_BUILT",
                                                     "CGPU_FORCE_REMOVE",
                                                     "CGPU_LAB"};
constexpr std::array<std::string_view, 2> kSilentBeginnings = {"CGPU_LAB_", "CGPU_TEST_"};

/// A longer name is not a typo of one of ours.
constexpr std::size_t kLongest = 64;

template <class Names>
bool contains(const Names& all, std::string_view name) {
    return std::ranges::find(all, name) != all.end();
}

bool is_known(std::string_view name) {
    return contains(kAsking, name) || contains(kSilent, name) ||
           std::ranges::any_of(kSilentBeginnings,
                               [&](auto beginning) { return name.starts_with(beginning); });
}

std::string_view likely_name(std::string_view name, std::string_view beginning) {
    std::vector<std::string_view> ends;
    for (const std::string_view known : kAsking)
        if (known.starts_with(beginning)) ends.push_back(known.substr(beginning.size()));
    const auto end = model::most_similar(name.substr(beginning.size()), ends);
    if (end.empty()) return {};
    return *std::ranges::find_if(kAsking, [&](std::string_view known) {
        return known.starts_with(beginning) && known.substr(beginning.size()) == end;
    });
}

}  // namespace

tl::expected<UnknownNames, std::string> parse_unknown_names(std::string_view text) {
    if (text == "refuse") return UnknownNames::refuse;
    if (text == "warn") return UnknownNames::warn;
    return tl::unexpected(std::string("it is neither refuse nor warn"));
}

std::optional<UnknownName> find_unknown_name(const Variables& variables) {
    if (const auto disabled = read_bool(variables, names::kDisable, "true", "false");
        disabled && disabled->value_or(false))
        return std::nullopt;
    for (const auto& [name, value] : variables)
        for (const std::string_view beginning : {kOwn, kAliyun})
            if (name.starts_with(beginning) && !is_known(name))
                return UnknownName{name, value, likely_name(name, beginning)};
    return std::nullopt;
}

model::Refusal refuse_unknown_name(const UnknownName& unknown) {
    const bool plain = std::ranges::all_of(unknown.name, [](char c) {
        return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    });
    const bool shown = plain && unknown.name.size() <= kLongest;
    const std::string meant =
        unknown.likely.empty() ? "a variable that cgpu knows, such as CGPU_MEM" : std::string(unknown.likely);
    const std::string name = shown ? std::string(unknown.name) : model::quote(unknown.name);
    // The value of a mistyped CGPU_RESERVATION is a secret.
    return model::make_refusal(
        model::Refusal::Reason::invalid, is_token(unknown.value) ? name : assignment(name, unknown.value),
        "cgpu knows no such variable", meant + ", or unknown_variables: warn in /etc/cgpu/cgpud.yaml");
}

}  // namespace cgpu::request
