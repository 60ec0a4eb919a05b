#include "module/front/lease/gives.hpp"

#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

constinit Gives the_gives;

void send(std::uint32_t gpu, std::uint64_t bytes, bool exported = false) {
    if (!session().link().give(gpu, bytes, exported)) session().engine().lease(gpu, bytes);
}

}  // namespace

Gives& gives() { return the_gives; }

void Gives::give(std::uint32_t gpu, std::uint64_t wanted, std::uint64_t keep) {
    const Uncancelled uncancelled;
    const Locked lock(mutex_);
    const auto spared = session().engine().spare(gpu, wanted, keep);
    if (spared != 0) send(gpu, spared);
}

void Gives::answer(const wire::Recall& recall) {
    const Uncancelled uncancelled;
    const Locked lock(mutex_);
    send(recall.gpu, session().engine().spare(recall.gpu, recall.bytes, 0));
}

void Gives::will_export(std::uint32_t gpu, std::uint64_t bytes) {
    if (bytes == 0) return;
    session().link().tell(wire::Topic::exported, gpu, exported_[gpu].fetch_add(bytes) + bytes);
}

void Gives::tell_exports_again() const {
    for (std::uint32_t gpu = 0; gpu < session().gpu_count(); ++gpu)
        if (const auto bytes = exported_[gpu].load(); bytes != 0)
            session().link().tell(wire::Topic::exported, gpu, bytes);
}

void Gives::surrender(std::uint32_t gpu, module::Holding kind, std::uint64_t key, std::uint64_t bytes) {
    const Uncancelled uncancelled;
    const Locked lock(mutex_);
    const auto taken =
        key != 0 ? session().engine().surrender(kind, key) : session().engine().spare(gpu, bytes, 0);
    if (taken != 0) send(gpu, taken, true);
}

void Gives::settle() {
    const Uncancelled uncancelled;
    const Locked lock(mutex_);
}

}  // namespace cgpu::front
