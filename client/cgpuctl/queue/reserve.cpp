// reserve: holds a part of GPUs for a container or job to come.
#include <cstdint>
#include <optional>
#include <string>

#include <unistd.h>

#include "client/cgpuctl/base/random_id.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/queue/reserve.hpp"
#include "client/cgpuctl/queue/shown_wait.hpp"
#include "client/run/job/job_user.hpp"
#include "client/run/job/run_request.hpp"
#include "core/model/duration.hpp"
#include "core/model/quote.hpp"
#include "core/request/reservation_variable.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

Result<std::uint64_t> read_hold(const std::string& text) {
    if (text.empty()) return request::kUsualHold;
    const auto seconds = model::parse_duration(text);
    if (seconds) return *seconds;
    return client::fail(Kind::usage, "--hold " + model::quote(text) + ": " + seconds.error() +
                                         ". Try: 10m or 1h, for example.");
}

std::string held_text(const client::Quota& quota) {
    return "GPU " + std::to_string(quota.gpu_index) + " (" + quota.gpu + "): memory " +
           size_text(quota.memory_limit) + ", weight " + std::to_string(quota.weight);
}

Json json_of(const std::string& id, const std::string& token, std::uint64_t hold,
             const client::Created& created) {
    Json gpus = Json::array();
    for (const client::Quota& quota : created.quotas)
        gpus.push_back({{"uuid", quota.gpu},
                        {"index", quota.gpu_index},
                        {"memory_limit_bytes", quota.memory_limit},
                        {"weight", quota.weight},
                        {"high_priority", quota.high_priority}});
    return {{"token", token}, {"id", id}, {"hold_seconds", hold}, {"gpus", gpus}};
}

}  // namespace

Result<void> reserve_verb(const ReserveInput& input, client::Node& node, Terminal& terminal) {
    const auto hold = read_hold(input.hold);
    if (!hold) return tl::unexpected(hold.error());
    const auto variables =
        client::request_variables({input.memory, input.weight, input.compute, input.gpus, input.priority,
                                   input.profile, input.wait_for, input.time, input.idle},
                                  client::whole_environment());
    if (!variables) return tl::unexpected(variables.error());
    if (variables->empty())
        return client::fail(Kind::usage,
                            "cgpuctl reserve: CGPU_DISABLE, or an amount of 0, asks for nothing. Try: --mem "
                            "4GiB, without CGPU_DISABLE.");
    const auto id = random_id();
    if (!id) return tl::unexpected(id.error());
    const auto token = random_id();
    if (!token) return tl::unexpected(token.error());
    const auto waits =
        input.quiet || input.dry_run || input.json ? nullptr : show_wait(*id, *variables, terminal);
    // Under sudo it is the caller's, as a job is; else root's reservations are for containers, of which
    // nobody is known to be the owner.
    const auto user = geteuid() == 0 ? client::job_user("", client::whole_environment())
                                     : Result<std::optional<client::JobUser>>(std::nullopt);
    if (!user) return tl::unexpected(user.error());
    std::optional<std::uint32_t> runs_as;
    if (*user) runs_as = (*user)->uid;
    const std::string name = input.name.empty() ? "reservation" : input.name;
    auto created = node.create_instance(
        {*id, name, "", *variables, input.dry_run, runs_as, client::HeldPart{*token, *hold}});
    if (waits) waits->end();
    if (!created) return tl::unexpected(created.error());
    if (created->quotas.empty())
        return client::fail(Kind::refused,
                            "cgpuctl reserve: the request is for the default memory, which is 0 on this "
                            "node, so there is nothing to hold. Try: --mem 4GiB.");
    for (const std::string& warning : created->warnings) terminal.warning(warning);
    if (input.dry_run) {
        for (const client::Quota& quota : created->quotas)
            terminal.done(held_text(quota) + "; would be held, nothing was changed.");
        return {};
    }
    if (input.json)
        terminal.out() << to_text(json_of(*id, *token, *hold, *created));
    else
        terminal.out() << *token << '\n';
    terminal.out().flush();
    if (!terminal.out()) {
        const bool back = node.release_instance(*id).has_value();
        return client::fail(
            Kind::failed,
            "the token can't be written to standard output, so " +
                std::string(back ? "the part is given back" : "nobody can use reservation " + short_id(*id)) +
                ". Try: write it into a file that takes it.");
    }
    if (input.json) return {};
    for (const client::Quota& quota : created->quotas) terminal.note(held_text(quota) + ".");
    terminal.note("It is held for " + model::format_duration(*hold) + ", as " + short_id(*id) +
                  ". Start with CGPU_RESERVATION=TOKEN what is to have it.");
    return {};
}

}  // namespace cgpu::cgpuctl
