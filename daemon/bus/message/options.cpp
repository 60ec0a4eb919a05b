#include "daemon/bus/message/options.hpp"

#include "core/model/quote.hpp"
#include "core/request/reservation_variable.hpp"

namespace cgpu::bus {
namespace {

using Reason = model::Refusal::Reason;
constexpr const char* kDryRun = "dry-run";
constexpr const char* kIfGeneration = "if-generation";
constexpr const char* kForce = "force";
constexpr const char* kPersist = "persist";
constexpr const char* kRuntime = "runtime";
constexpr const char* kImage = "image";
constexpr const char* kOwner = "owner";
constexpr const char* kUser = "user";
constexpr const char* kReserve = "reserve";
constexpr const char* kHold = "hold";
constexpr const char* kDrain = "drain";
constexpr const char* kTimeout = "timeout";
constexpr const char* kSeconds = "seconds";

template <class T>
app::Result<T> read_value(const std::string& key, const sdbus::Variant& value, const char* type,
                          const char* example) {
    if (value.containsValueOfType<T>()) return value.get<T>();
    return model::refuse(Reason::invalid, "option " + model::quote(key),
                         "its type is " + std::string(value.peekValueType()) + ", not " + type, example);
}

}  // namespace

app::Result<app::Options> read_options(const OptionMap& given, Known known) {
    app::Options options;
    for (const auto& [key, value] : given) {
        if (key == kIfGeneration) {
            const auto generation =
                read_value<std::uint64_t>(key, value, "t", "give the Generation of org.cgpu1.Manager");
            if (!generation) return tl::unexpected(generation.error());
            options.if_generation = *generation;
            continue;
        }
        bool* flag = nullptr;
        if (key == kDryRun) flag = &options.dry_run;
        if (known.force && key == kForce) flag = &options.force;
        if (known.persist && key == kPersist) flag = &options.persist;
        if (known.runtime && key == kRuntime) flag = &options.runtime;
        if (flag == nullptr)
            return model::refuse(Reason::invalid, "option " + model::quote(key), "it is not known",
                                 std::string(kDryRun) + ", " + kIfGeneration +
                                     (known.force ? ", force" : "") + (known.persist ? ", persist" : "") +
                                     (known.runtime ? ", runtime" : "") + ", or no options");
        const auto read = read_value<bool>(key, value, "b", "use true or false");
        if (!read) return tl::unexpected(read.error());
        *flag = *read;
    }
    return options;
}

bool is_dry_run(const OptionMap& given) {
    const auto option = given.find(kDryRun);
    return option != given.end() && option->second.containsValueOfType<bool>() && option->second.get<bool>();
}

app::Result<CreateOptions> read_create_options(const OptionMap& given) {
    OptionMap others = given;
    CreateOptions all;
    if (const auto image = others.extract(kImage)) {
        auto name =
            read_value<std::string>(kImage, image.mapped(), "s", "give the name of the container's image");
        if (!name) return tl::unexpected(name.error());
        if (name->size() > model::kMaxImageName)
            return model::refuse(Reason::invalid, "option " + model::quote(kImage),
                                 "it has more than " + std::to_string(model::kMaxImageName) + " bytes",
                                 "give a shorter name, or none");
        all.origin.image = std::move(*name);
    }
    if (const auto user = others.extract(kUser)) {
        const auto id = read_value<std::uint32_t>(kUser, user.mapped(), "u", "give a user id");
        if (!id) return tl::unexpected(id.error());
        all.origin.runs_as = *id;
    }
    if (const auto token = others.extract(kReserve)) {
        auto text = read_value<std::string>(kReserve, token.mapped(), "s", "give a token");
        if (!text) return tl::unexpected(text.error());
        all.hold = app::Hold{std::move(*text), request::kUsualHold};
    }
    if (const auto hold = others.extract(kHold)) {
        const auto seconds = read_value<std::uint64_t>(kHold, hold.mapped(), "t", "give a number of seconds");
        if (!seconds) return tl::unexpected(seconds.error());
        if (!all.hold)
            return model::refuse(Reason::invalid, "option " + model::quote(kHold),
                                 "no reservation is asked for", "give reserve with it");
        all.hold->seconds = *seconds;
    }
    const auto options = read_options(others);
    if (!options) return tl::unexpected(options.error());
    all.options = *options;
    return all;
}

app::Result<ForgetOptions> read_forget_options(const OptionMap& given) {
    OptionMap others = given;
    ForgetOptions all;
    if (const auto owner = others.extract(kOwner)) {
        const auto user = read_value<std::uint32_t>(kOwner, owner.mapped(), "u", "give a user id");
        if (!user) return tl::unexpected(user.error());
        all.owner = *user;
    }
    const auto options = read_options(others);
    if (!options) return tl::unexpected(options.error());
    all.options = *options;
    return all;
}

app::Result<std::uint32_t> read_trace_seconds(const OptionMap& given) {
    std::uint32_t seconds = app::Traces::kDefaultSeconds;
    for (const auto& [key, value] : given) {
        if (key != kSeconds)
            return model::refuse(Reason::invalid, "option " + model::quote(key), "it is not known",
                                 "seconds, or no options");
        const auto read = read_value<std::uint32_t>(key, value, "u", "give a number of seconds");
        if (!read) return tl::unexpected(read.error());
        seconds = *read;
    }
    return seconds;
}

app::Result<app::UpgradeOptions> read_job_options(const OptionMap& given, upgrade::Kind kind) {
    app::UpgradeOptions options;
    const bool takes_drain = kind != upgrade::Kind::hot;
    const bool takes_runtime = kind == upgrade::Kind::mode;
    for (const auto& [key, value] : given) {
        if (key == kTimeout) {
            const auto seconds = read_value<std::uint32_t>(key, value, "u", "give a number of seconds");
            if (!seconds) return tl::unexpected(seconds.error());
            options.timeout_s = *seconds;
        } else if (key == kDryRun || (takes_drain && key == kDrain) || (takes_runtime && key == kRuntime)) {
            const auto flag = read_value<bool>(key, value, "b", "use true or false");
            if (!flag) return tl::unexpected(flag.error());
            (key == kDrain     ? options.drain
             : key == kRuntime ? options.until_reboot
                               : options.dry_run) = *flag;
        } else {
            return model::refuse(Reason::invalid, "option " + model::quote(key), "it is not known",
                                 std::string("dry-run, timeout") + (takes_drain ? ", drain" : "") +
                                     (takes_runtime ? ", runtime" : "") + ", or no options");
        }
    }
    return options;
}

}  // namespace cgpu::bus
