#include "daemon/bus/objects/objects.hpp"

#include <utility>

#include "daemon/bus/message/paths.hpp"
#include "dbus/json/node_text.hpp"

namespace cgpu::bus {

Objects::Objects(sdbus::IConnection& connection, Callers& callers, const app::Loop& loop,
                 app::Service& service, app::Upgrader& upgrader, app::UnmanagedContainers& unmanaged,
                 app::Traces& traces, std::string version, const app::Examined& examined)
    : connection_(connection),
      authority_(connection, callers),
      handed_out_(connection),
      service_(service),
      upgrader_(upgrader),
      traces_(traces),
      usage_(authority_, service, loop),
      told_{.version = std::move(version)},
      manager_(connection, authority_, service, upgrader, unmanaged, usage_, handed_out_, told_, examined) {
    authority_.on_refused([this](const Authority::Refused& call) { refused(call); });
    refresh_gpus();
    refresh_job();
    for (const auto& [id, instance] : service_.node().instances()) refresh(id);
    if (const auto* queue = service_.queue())
        for (const auto& place : queue->all()) refresh(place.request->id());
    announcing_ = true;
}

template <class Object>
void Objects::announce(Object& object) {
    if (announcing_) object.announce();
}

void Objects::refused(const Authority::Refused& call) {
    app::RefusedCall told{call.method, {call.caller.uid, call.caller.pid}, call.refusal};
    for (const auto& [uuid, object] : gpus_)
        if (path_of(uuid) == call.path) told.gpu = uuid;
    for (const auto& [id, object] : instances_)
        if (path_of(id) == call.path) told.instance = id;
    service_.call_refused(told);
}

void Objects::refresh_gpus() {
    const model::Node& node = service_.node();
    const auto mode = upgrader_.mode();
    const bool all = mode != shown_mode_ || node.gpus() != shown_.gpus();
    const auto changed = model::changed_gpus(shown_, node);
    const model::Occupancy now(node);
    told_.gpus.resize(node.gpus().size());
    // The node never forgets GPUs, so none is removed here.
    for (std::size_t each = 0; each < node.gpus().size(); ++each) {
        const model::Gpu& gpu = node.gpus()[each];
        if (!all && !changed.contains(gpu.uuid)) continue;
        const auto known = gpus_.find(gpu.uuid);
        auto view = view_of(now, gpu, mode);
        told_.gpus[each] = view::gpu_text(view);
        if (known != gpus_.end())
            known->second.update(std::move(view));
        else
            announce(gpus_
                         .try_emplace(gpu.uuid, connection_, authority_, service_, traces_, usage_,
                                      handed_out_, gpu.uuid, std::move(view))
                         .first->second);
    }
    shown_ = node;
    shown_mode_ = mode;
}

void Objects::xid_reported(const model::XidError& xid) {
    if (const auto found = gpus_.find(xid.gpu); found != gpus_.end()) found->second.xid_reported(xid.code);
}

void Objects::happened(const app::Event& event, const app::Stamp& stamp) {
    manager_.happened(event, stamp);
    if (event.type != app::EventType::driver_unreachable || !event.instance) return;
    const auto reason = event.details.find("reason");
    const auto known = instances_.find(*event.instance);
    if (reason == event.details.end() || known == instances_.end()) return;
    if (const auto* word = std::get_if<std::string>(&reason->second))
        told_.without_driver[*event.instance][*word] = static_cast<std::uint32_t>(event.process);
}

void Objects::refresh(const model::InstanceId& id) {
    const model::Node& node = service_.node();
    const model::Instance* instance = node.find_instance(id);
    const auto* queued = service_.queue() == nullptr ? nullptr : service_.queue()->find(id);
    auto known = instances_.find(id);
    if (instance == nullptr && queued == nullptr) {
        if (known == instances_.end()) return;
        known->second.announce_removal();
        instances_.erase(known);
        told_.without_driver.erase(id);
        return;
    }
    auto view = instance != nullptr ? view_of(node, *instance, upgrader_.versions(id)) : view_of(*queued);
    // Clients may keep a name as long as its object is there.
    if (known != instances_.end() && known->second.name() != view.name) {
        known->second.announce_removal();
        instances_.erase(known);
        known = instances_.end();
    }
    if (known != instances_.end())
        known->second.update(std::move(view));
    else
        announce(instances_
                     .try_emplace(id, connection_, authority_, service_, upgrader_, usage_, told_, id,
                                  std::move(view))
                     .first->second);
}

void Objects::refresh_job() {
    const auto status = upgrader_.status();
    if (status.id == 0) return;
    if (job_ && job_->id() == status.id) {
        job_->update(status);
        return;
    }
    if (job_) job_->announce_removal();
    job_.emplace(connection_, authority_, upgrader_, status);
    announce(*job_);
}

}  // namespace cgpu::bus
