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

void EngineHandle::reset_in_child() {
    sections().reset_in_child();
    now_ = nullptr;
    orders_.store(nullptr);
    reports_.store(nullptr);
}

}  // namespace cgpu::front
