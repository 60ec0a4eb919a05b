#include "core/model/quote.hpp"
#include "core/request/request.hpp"
#include "daemon/app/instances/service.hpp"

/// What owners may have.
namespace cgpu::app {

using model::Refusal;

Result<std::optional<limits::Allowance>> Service::allowance_of(const model::Owner& owner) const {
    if (outside_.limits == nullptr) return std::nullopt;
    return outside_.limits->allowance(node(), owner);
}

Result<void> Service::check(const Options& options) {
    const auto checked = state_.change(
        [](model::Node&) -> tl::expected<model::Change, model::Refusal> { return model::Change::unchanged; },
        options);
    if (!checked) return tl::unexpected(checked.error());
    return {};
}

void Service::prepare(const model::Owner& owner, std::function<void(const Result<void>&)> done) {
    if (outside_.limits == nullptr) return done({});
    outside_.limits->prepare(owner, std::move(done));
}

void Service::describe_limits(const std::string& word, std::uint32_t caller,
                              std::function<void(const Result<view::Limits>&)> done) {
    const auto own = std::to_string(caller);
    if (outside_.limits == nullptr) return done(view::Limits{});
    const bool of_another = caller != 0 && !word.empty() && word != own && word != "containers";
    if (of_another)
        // A user may say the own name, too.
        done = [this, word, caller, done = std::move(done)](const Result<view::Limits>& limits) {
            if (!limits || outside_.limits->is_called(caller, word)) return done(limits);
            done(model::refuse(Refusal::Reason::not_permitted, "limits of user " + model::quote(word),
                               "only root may ask for another user's", "cgpuctl limits, for your own"));
        };
    outside_.limits->describe(
        word.empty() || of_another ? own : word, [this]() -> const model::Node& { return node(); },
        std::move(done));
}

}  // namespace cgpu::app
