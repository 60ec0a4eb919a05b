#include "daemon/link/server.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "daemon/app/ports/log.hpp"

namespace cgpu::link {
namespace {

void remove_folder(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    if (error) log::warn("link: {} can't be removed: {}", folder.string(), error.message());
}

}  // namespace

Server::Server(Outside outside, Settings settings)
    : outside_(std::move(outside)),
      settings_(std::move(settings)),
      descriptors_(settings_.max_descriptors),
      told_(outside_.loop, outside_.events) {
    outside_.leases.set_peers(this);
    outside_.engines.set_engine_control(this);
}

Server::~Server() {
    outside_.leases.set_peers(nullptr);
    outside_.engines.set_engine_control(nullptr);
}

std::filesystem::path Server::instances_folder() const { return settings_.runtime_dir / "instances"; }

app::Result<std::string> Server::open(const model::Instance& instance) {
    const auto folder = instances_folder() / instance.id.str();
    if (const auto found = links_.find(instance.id); found != links_.end()) {
        if (found->second->key() == app::key_of(instance)) {
            refresh(instance);
            return found->second->folder().string();
        }
        close(instance.id);
    }
    auto link = InstanceLink::open(instance, folder, outside_, settings_, descriptors_, told_);
    if (!link) return tl::unexpected(link.error());
    return links_.emplace(instance.id, std::move(*link)).first->second->folder().string();
}

void Server::close(const model::InstanceId& id) {
    // Waiting asks are refused while their connections can still deliver the refusal.
    outside_.leases.drop_instance(id);
    if (const auto found = links_.find(id); found != links_.end()) {
        found->second->forget_engines();
        found->second->forget_descriptors();
    }
    links_.erase(id);
    remove_folder(instances_folder() / id.str());
}

void Server::refresh(const model::Instance& instance) {
    if (auto* link = find(app::key_of(instance))) link->refresh(instance);
}

app::Result<void> Server::let_in(const model::InstanceId& id, std::uint32_t user) {
    const auto found = links_.find(id);
    return found == links_.end() ? app::Result<void>() : found->second->let_in(user);
}

app::WatchPtr Server::find_member(const model::InstanceId& id, std::vector<model::Process> others,
                                  app::FoundProcess call) const {
    if (const auto found = links_.find(id); found != links_.end())
        return found->second->find_member(std::move(others), std::move(call));
    return outside_.loop.at(outside_.loop.now(), [call = std::move(call)] { call(std::nullopt); });
}

bool Server::idle(const model::InstanceId& id) const {
    const auto found = links_.find(id);
    return (found == links_.end() || found->second->empty()) && !outside_.leases.pools().holds_any(id);
}

void Server::forget_unknown(const std::vector<model::InstanceId>& known) {
    std::error_code error;
    std::vector<std::filesystem::path> unknown;
    for (const auto& entry : std::filesystem::directory_iterator(instances_folder(), error)) {
        const auto name = entry.path().filename().string();
        if (std::none_of(known.begin(), known.end(), [&](const auto& id) { return id.str() == name; }))
            unknown.push_back(entry.path());
    }
    for (const auto& folder : unknown) remove_unless_seen(folder);
}

void Server::remove_unless_seen(const std::filesystem::path& folder) {
    auto searched = [this, folder](const std::optional<model::Process>& seen) {
        // Another instance may have got this id meanwhile.
        const bool known = std::ranges::any_of(
            links_, [&](const auto& each) { return folder.filename() == each.first.str(); });
        if (seen && !known)
            log::error(
                "link: process {} has {} mounted, and the state has no such instance. The folder is kept, "
                "and the process is not served. Try: put the right state.json in its place and start cgpud "
                "again, or end the process.",
                seen->pid, folder.string());
        if (!seen && !known) remove_folder(folder);
        searches_.erase(std::filesystem::path(folder));  // last, because it may be this that is called
    };
    searches_[folder] = outside_.processes.find_first_to_see(folder / "link", {}, std::move(searched));
}

InstanceLink* Server::find(const app::InstanceKey& key) const {
    const auto found = links_.find(key.id);
    return found != links_.end() && found->second->key() == key ? found->second.get() : nullptr;
}

std::optional<app::LeaseReport> Server::report(const app::LeaseKey& key) const {
    const auto* link = find(key.pool.instance);
    return link == nullptr ? std::nullopt : link->report(key.process, key.pool.gpu);
}

bool Server::recall(const app::LeaseKey& key, std::uint64_t bytes) {
    auto* link = find(key.pool.instance);
    return link != nullptr && link->recall(key.process, key.pool.gpu, bytes);
}

void Server::stranger(const model::Uuid& gpu, std::int32_t pid) {
    const auto process = outside_.processes.identify(pid);
    if (!process) return;
    const auto look = outside_.processes.look_at(*process);
    for (const auto& [id, link] : links_)
        if (link->take_in(*process, *look, gpu)) return;
}

void Server::cut_off(std::int32_t pid) {
    const auto process = outside_.processes.identify(pid);
    if (!process) return;
    const auto look = outside_.processes.look_at(*process);
    for (const auto& [id, link] : links_)
        if (link->take_cut_off(*process, *look)) return;
}

bool Server::has_member(std::int32_t pid) const {
    const auto process = outside_.processes.identify(pid);
    if (!process) return false;
    const auto look = outside_.processes.look_at(*process);
    return std::ranges::any_of(links_,
                               [&](const auto& entry) { return entry.second->has_member(*process, *look); });
}

void Server::switch_engine(const upgrade::Switch& order, const std::string& engine) {
    if (const auto found = links_.find(order.who.instance); found != links_.end())
        found->second->switch_engine(order, engine);
}

void Server::memory_gone(const app::InstanceKey& instance) {
    if (auto* link = find(instance)) link->tell_if_idle();
}

}  // namespace cgpu::link
