#include "client/cgpuctl/instances/chosen.hpp"

#include <pwd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "client/cgpuctl/base/gpu_meant.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "core/model/owner.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

constexpr const char* kUnmanaged = "unmanaged";
constexpr const char* kPaused = "paused";
constexpr const char* kQueued = "queued";
constexpr std::array<std::string_view, 6> kStates = {kQueued,   "reserved", "waiting",
                                                     "running", kPaused,    kUnmanaged};

bool declares(const client::Snapshot& snapshot, const std::string& user) {
    return std::ranges::any_of(snapshot.instances, [&](const client::Instance& instance) {
        return !instance.owner && instance.declared_owner == user;
    });
}

/// Those whose the instances are, for a remedy: `alice, bob`. Empty: nobody's is known.
std::string known_users(const client::Snapshot& snapshot, UserNames& users) {
    std::set<std::string> names;
    for (const client::Instance& instance : snapshot.instances) {
        if (instance.owner)
            names.insert(users.of(*instance.owner));
        else if (!instance.declared_owner.empty())
            names.insert(model::shell_word(instance.declared_owner));
    }
    for (const client::UnmanagedContainer& container : snapshot.unmanaged)
        if (container.owner) names.insert(users.of(*container.owner));
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

Result<std::optional<std::uint32_t>> uid_of(const Choice& input, const client::Snapshot& snapshot,
                                            UserNames& users) {
    if (is_number(input.user))
        return read_count_in("user", input.user, 0, model::kNobody - 1).map([](std::uint32_t uid) {
            return std::optional(uid);
        });
    // The names of another machine's users are not this one's.
    const passwd* entry = input.host.empty() ? getpwnam(input.user.c_str()) : nullptr;
    if (entry != nullptr) return std::optional<std::uint32_t>(entry->pw_uid);
    if (declares(snapshot, input.user)) return std::nullopt;
    const std::string why = input.host.empty()
                                ? "the system has no such user, and no container declares it"
                                : "no container declares it, and users of another machine are known by id";
    const std::string known = known_users(snapshot, users);
    return client::fail(Kind::usage, "--user " + model::quote(input.user) + ": " + why + ". Try: " +
                                         (known.empty() ? "use a user's name or id" : "use one of " + known) +
                                         ".");
}

Result<std::string> read_state(const std::string& asked) {
    const std::string state = model::lowered(asked);
    if (asked.empty() || std::ranges::count(kStates, state) > 0) return state;
    return client::fail(Kind::usage,
                        "--state " + model::quote(asked) +
                            ": there is no such state. Try: queued, reserved, waiting, running, paused or "
                            "unmanaged.");
}

bool is_on(const client::Instance& instance, const std::string& uuid) {
    return instance.on(uuid) != nullptr ||
           std::ranges::count(instance.foreign_gpus, uuid, &client::ForeignGpu::uuid) > 0;
}

bool is_on(const client::UnmanagedContainer& container, const std::string& uuid) {
    return container.gpus.empty() || std::ranges::count(container.gpus, uuid) > 0 ||
           container.memory.contains(uuid);
}

bool is_of(const std::optional<std::uint32_t>& owner, const std::string& declared, const Chosen& chosen) {
    return owner ? owner == chosen.uid : declared == chosen.user;
}

/// A paused one isn't running, if only on one of its GPUs.
bool is_in_state(const client::Instance& instance, const std::string& state) {
    const bool paused =
        instance.managed &&
        std::ranges::any_of(instance.gpus, [](const client::OnGpu& place) { return place.quota.paused; });
    return paused ? state == kPaused : state_text(instance) == state;
}

bool is_wanted(const client::Instance& instance, const Chosen& chosen) {
    return (chosen.gpu.empty() || is_on(instance, chosen.gpu)) &&
           (chosen.user.empty() || is_of(instance.owner, instance.declared_owner, chosen)) &&
           (chosen.state.empty() || is_in_state(instance, chosen.state));
}

bool is_wanted(const client::UnmanagedContainer& container, const Chosen& chosen) {
    return (chosen.gpu.empty() || is_on(container, chosen.gpu)) &&
           (chosen.user.empty() || is_of(container.owner, "", chosen)) &&
           (chosen.state.empty() || chosen.state == kUnmanaged);
}

/// It has no GPU yet.
bool is_wanted(const client::Queued& queued, const Chosen& chosen) {
    return chosen.gpu.empty() &&
           (chosen.user.empty() || is_of(queued.owner, queued.declared_owner, chosen)) &&
           (chosen.state.empty() || chosen.state == kQueued);
}

}  // namespace

std::string state_text(const client::Instance& instance) {
    return instance.managed ? instance.state : kUnmanaged;
}

Result<Chosen> read_chosen(const Choice& input, const client::Snapshot& snapshot, client::Node& node,
                           UserNames& users) {
    Chosen chosen;
    const auto state = read_state(input.state);
    if (!state) return tl::unexpected(state.error());
    chosen.state = *state;
    if (!input.user.empty()) {
        const auto uid = uid_of(input, snapshot, users);
        if (!uid) return tl::unexpected(uid.error());
        chosen.user = input.user;
        chosen.uid = *uid;
    }
    if (input.gpu.empty()) return chosen;
    const auto gpu = gpu_meant(snapshot, input.gpu, node);
    if (!gpu) return tl::unexpected(gpu.error());
    chosen.gpu = (*gpu)->uuid;
    return chosen;
}

void keep_chosen(client::Snapshot& snapshot, const Chosen& chosen) {
    std::erase_if(snapshot.instances, [&](const auto& each) { return !is_wanted(each, chosen); });
    std::erase_if(snapshot.unmanaged, [&](const auto& each) { return !is_wanted(each, chosen); });
    std::erase_if(snapshot.queue, [&](const auto& each) { return !is_wanted(each, chosen); });
}

}  // namespace cgpu::cgpuctl
