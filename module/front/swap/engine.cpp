#include "module/front/swap/engine.hpp"

#include "module/front/swap/engine_file.hpp"

namespace cgpu::front {

bool EngineHandle::load(const char* path) {
    char why[sizeof wire::Switched::detail];
    Running first;
    const auto result = load_engine(path, 0, first, why);
    // What the parent had loaded would keep its file mapped for ever.
    for (Running& inherited : engines_) unload_code(inherited);
    if (result != wire::SwitchResult::done) return false;
    now_ = &engines_[0];
    *now_ = first;
    sections().begin(*now_);
    return true;
}

void EngineHandle::bind(const wire::Orders* orders, wire::Reports* reports) {
    orders_.store(orders);
    reports_.store(reports);
    call(&module::EngineTable::bind, orders, reports);
}

wire::Switched EngineHandle::running() const {
    auto told = wire::make_message<wire::Switched>();
    told.result = wire::SwitchResult::running;
    const Section section;
    if (section.running() != nullptr) told.version = section.running()->table->version;
    return told;
}

namespace {

bool grants_time(const module::EngineTable& table) { return table.bytes >= sizeof(module::EngineTable); }

}  // namespace

void EngineHandle::request_time(const module::TimeRequest& request, module::TimeGrant& grant) const {
    grant = module::TimeGrant{};
    const Section section;
    const Running* running = section.running();
    if (running == nullptr) [[unlikely]]
        return;
    const module::EngineTable& table = *running->table;
    if (grants_time(table)) [[likely]]
        return table.request_time(running->engine, &request, &grant);
    const std::uint32_t gpu = request.launch.gpu;
    if (request.returned_launches > 0)
        table.unused(running->engine, gpu, request.returned_batch, request.returned_launches);
    module::Decision& decision = grant.decision;
    table.enter(running->engine, &request.launch, &decision);
    if (decision.act != module::Act::launch || decision.more == 0) return;
    table.unused(running->engine, gpu, decision.batch, decision.more);
    decision.more = 0;
}

void EngineHandle::return_time(std::uint32_t gpu, module::BatchId batch, std::uint32_t launches,
                               std::int64_t ns) const {
    const Section section;
    const Running* running = section.running();
    if (running == nullptr) [[unlikely]]
        return;
    const module::EngineTable& table = *running->table;
    if (grants_time(table)) [[likely]]
        return table.return_time(running->engine, gpu, batch, launches, ns);
    table.unused(running->engine, gpu, batch, launches);
}

void EngineHandle::reset_in_child() {
    sections().reset_in_child();
    now_ = nullptr;
    orders_.store(nullptr);
    reports_.store(nullptr);
}

}  // namespace cgpu::front
