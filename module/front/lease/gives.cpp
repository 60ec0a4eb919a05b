#include "module/front/lease/gives.hpp"

#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

constinit Gives the_gives;

void send(std::uint32_t gpu, std::uint64_t bytes) {
    if (!session().link().give(gpu, bytes)) session().engine().lease(gpu, bytes);
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

void Gives::settle() {
    const Uncancelled uncancelled;
    const Locked lock(mutex_);
}

}  // namespace cgpu::front
