// An engine with one fault, which the build selects. The build has renamed its own table.
#include "module/engine/abi/api.hpp"

#undef cgpu_engine_table

namespace cgpu::module {

#ifdef CGPU_BROKEN_no_engine
extern "C" __attribute__((visibility("default"))) const EngineTable* cgpu_engine_table() { return nullptr; }
#else
extern "C" const EngineTable* whole_engine_table();

namespace {

EngineTable broken(EngineTable table) {
#if defined(CGPU_BROKEN_other_abi)
    table.abi = kEngineAbi + 1;
#elif defined(CGPU_BROKEN_short_table)
    table.bytes = kLeastTableBytes - sizeof(void*);
#elif defined(CGPU_BROKEN_failing_restore)
    table.restore = [](Engine*, const void*, std::uint64_t) -> std::uint32_t { return 0; };
#elif defined(CGPU_BROKEN_other_charge)
    table.charged = [](Engine* engine, std::uint32_t gpu) {
        return whole_engine_table()->charged(engine, gpu) + wire::kGranule;
    };
#elif defined(CGPU_BROKEN_other_lease)
    table.leased = [](Engine* engine, std::uint32_t gpu) {
        return whole_engine_table()->leased(engine, gpu) / 2;
    };
#endif
    return table;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const EngineTable* cgpu_engine_table() {
    static const EngineTable table = broken(*whole_engine_table());
    return &table;
}
#endif

}  // namespace cgpu::module
