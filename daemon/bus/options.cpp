#include "daemon/bus/options.hpp"

#include "core/model/quote.hpp"

namespace cgpu::bus {
namespace {

using Reason = model::Refusal::Reason;
constexpr const char* kDryRun = "dry-run";
constexpr const char* kForce = "force";
constexpr const char* kDrain = "drain";
constexpr const char* kTimeout = "timeout";

template <class T>
app::Result<T> read_value(const std::string& key, const sdbus::Variant& value, const char* type,
                          const char* example) {
    if (value.containsValueOfType<T>()) return value.get<T>();
    return model::refuse(Reason::invalid, "option " + model::quote(key),
                         "its type is " + std::string(value.peekValueType()) + ", not " + type, example);
}

}  // namespace

app::Result<app::Options> read_options(const OptionMap& given, Force force) {
    app::Options options;
    for (const auto& [key, value] : given) {
        const std::string what = "option " + model::quote(key);
        const bool takes_force = force == Force::known;
        if (key != kDryRun && !(takes_force && key == kForce))
            return model::refuse(Reason::invalid, what, "it is not known",
                                 takes_force ? "dry-run, force, or no options" : "dry-run, or no options");
        const auto flag = read_value<bool>(key, value, "b", "true or false");
        if (!flag) return tl::unexpected(flag.error());
        (key == kForce ? options.force : options.dry_run) = *flag;
    }
    return options;
}

app::Result<app::UpgradeOptions> read_job_options(const OptionMap& given, upgrade::Kind kind) {
    app::UpgradeOptions options;
    const bool takes_drain = kind != upgrade::Kind::hot;
    for (const auto& [key, value] : given) {
        if (key == kTimeout) {
            const auto seconds = read_value<std::uint32_t>(key, value, "u", "seconds");
            if (!seconds) return tl::unexpected(seconds.error());
            options.timeout_s = *seconds;
        } else if (key == kDryRun || (takes_drain && key == kDrain)) {
            const auto flag = read_value<bool>(key, value, "b", "true or false");
            if (!flag) return tl::unexpected(flag.error());
            (key == kDrain ? options.drain : options.dry_run) = *flag;
        } else {
            return model::refuse(
                Reason::invalid, "option " + model::quote(key), "it is not known",
                takes_drain ? "dry-run, timeout, drain, or no options" : "dry-run, timeout, or no options");
        }
    }
    return options;
}

}  // namespace cgpu::bus
