#include "daemon/bus/options.hpp"

#include "core/model/quote.hpp"

namespace cgpu::bus {
namespace {

using Reason = model::Refusal::Reason;
constexpr const char* kDryRun = "dry-run";
constexpr const char* kForce = "force";

}  // namespace

app::Result<app::Options> read_options(const OptionMap& given, Force force) {
    app::Options options;
    for (const auto& [key, value] : given) {
        const std::string what = "option " + model::quote(key);
        const bool takes_force = force == Force::known;
        if (key != kDryRun && !(takes_force && key == kForce))
            return model::refuse(Reason::invalid, what, "it is not known",
                                 takes_force ? "dry-run, force, or no options" : "dry-run, or no options");
        if (!value.containsValueOfType<bool>())
            return model::refuse(Reason::invalid, what,
                                 "its type is " + std::string(value.peekValueType()) + ", not b",
                                 "true or false");
        (key == kForce ? options.force : options.dry_run) = value.get<bool>();
    }
    return options;
}

}  // namespace cgpu::bus
