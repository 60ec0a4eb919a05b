#pragma once

#include <dlfcn.h>
#include <rapidcheck.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/module/engine/support/engine_fixture.hpp"

/// Engines out of libraries, which are exchanged while they work.
namespace cgpu::module::test {

inline const EngineTable& table_in(const char* file) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return *reinterpret_cast<EngineTableFunction>(dlsym(library, kEngineTableSymbol))();
}

inline const EngineTable& present() {
    static const EngineTable& table = table_in(CGPU_TEST_ENGINES "/present.so");
    return table;
}
inline const EngineTable& next_version() {
    static const EngineTable& table = table_in(CGPU_TEST_ENGINES "/next.so");
    return table;
}

/// Orders are common to all, each engine has its own report.
struct World {
    Pages pages;
    wire::Reports reports[3]{};
};

/// An engine that can be handed over to another one.
class Subject {
  public:
    Subject(const World& world, wire::Reports& reports) : world_(world), reports_(reports) { bind(true); }
    ~Subject() { table_->destroy(engine_); }
    Subject(const Subject&) = delete;
    Subject& operator=(const Subject&) = delete;

    void go_over_to(const EngineTable& table) {
        std::vector<std::byte> bytes(table_->save(engine_, nullptr, 0));
        const auto used = table_->save(engine_, bytes.data(), bytes.size());
        RC_ASSERT(used <= bytes.size());
        Engine* fresh = table.create(&memory_);
        RC_ASSERT(table.restore(fresh, bytes.data(), used) == 1u);
        table_->destroy(engine_);
        table_ = &table;
        engine_ = fresh;
        bind(bound_);
    }
    void bind(bool connected) {
        bound_ = connected;
        table_->bind(engine_, connected ? &world_.pages.orders : nullptr, connected ? &reports_ : nullptr);
    }
    const EngineTable& table() const { return *table_; }
    Engine* engine() const { return engine_; }
    const wire::Reports& reports() const { return reports_; }

  private:
    const World& world_;
    wire::Reports& reports_;
    bool bound_ = false;
    EngineHost memory_ = host();
    const EngineTable* table_ = &present();
    Engine* engine_ = table_->create(&memory_);
};

/// The daemon's view of the first GPU.
inline std::map<std::string, std::int64_t> told_by(const wire::Reports& reports) {
    const wire::GpuReport& gpu = reports.gpus[0];
    std::map<std::string, std::int64_t> told = {{"changing", reports.changing},
                                                {"changes", reports.changes},
                                                {"charged_bytes", gpu.charged_bytes},
                                                {"pooled_bytes", gpu.pooled_bytes},
                                                {"used_ns", gpu.used_ns},
                                                {"in_flight_ns", gpu.in_flight_ns},
                                                {"oldest_start_ns", gpu.oldest_start_ns},
                                                {"oldest_ns", gpu.oldest_ns},
                                                {"waited_ns", gpu.waited_ns},
                                                {"longest_ns", gpu.longest_ns},
                                                {"usual_gap_ns", gpu.usual_gap_ns},
                                                {"launches", gpu.launches},
                                                {"updated_ns", gpu.updated_ns},
                                                {"wants", gpu.wants},
                                                {"syncing", gpu.syncing},
                                                {"unmeasured", gpu.unmeasured},
                                                {"waits", reports.waits[0].sum_ns}};
    for (std::size_t i = 0; i < wire::kWaitBuckets; ++i)
        told["waits " + std::to_string(i)] = reports.waits[0].counts[i];
    return told;
}

}  // namespace cgpu::module::test
