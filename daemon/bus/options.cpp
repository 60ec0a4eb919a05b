#include "daemon/bus/options.hpp"

#include "core/model/quote.hpp"

namespace cgpu::bus {
namespace {

using Reason = model::Refusal::Reason;
constexpr const char* kDryRun = "dry-run";

}  // namespace

app::Result<app::Options> read_options(const OptionMap& given) {
    app::Options options;
    for (const auto& [key, value] : given) {
        const std::string what = "option " + model::quote(key);
        if (key != kDryRun)
            return model::refuse(Reason::invalid, what, "it is not known", "dry-run, or no options");
        if (!value.containsValueOfType<bool>())
            return model::refuse(Reason::invalid, what,
                                 "its type is " + std::string(value.peekValueType()) + ", not b",
                                 "true or false");
        options.dry_run = value.get<bool>();
    }
    return options;
}

}  // namespace cgpu::bus
