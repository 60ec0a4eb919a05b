#include "module/front/engine.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "module/front/paths.hpp"

namespace cgpu::front {
namespace {

void* allocate(std::uint64_t bytes) { return std::malloc(bytes); }

constexpr module::EngineHost kHost{allocate, std::free};

/// Below the folder and nowhere else: the daemon is trusted, but a mangled path must not load some file of
/// the user's.
bool stays_below(std::string_view path) {
    return !path.empty() && path.front() != '/' && path.find("..") == std::string_view::npos;
}

}  // namespace

bool EngineHandle::load(const char* path) {
    const std::string_view folder = kEngineFolder;
    const std::string_view file = path;
    std::array<char, 256> full{};
    if (!stays_below(file) || folder.size() + 1 + file.size() >= full.size()) return false;
    std::memcpy(full.data(), folder.data(), folder.size());
    full[folder.size()] = '/';
    std::memcpy(full.data() + folder.size() + 1, file.data(), file.size());

    void* library = dlopen(full.data(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    const auto table_of =
        reinterpret_cast<module::EngineTableFunction>(dlsym(library, module::kEngineTableSymbol));
    const module::EngineTable* table = table_of != nullptr ? table_of() : nullptr;
    if (table == nullptr || table->abi != module::kEngineAbi || table->bytes < sizeof(module::EngineTable)) {
        dlclose(library);
        return false;
    }
    module::Engine* engine = table->create(&kHost);
    if (engine == nullptr) {
        dlclose(library);
        return false;
    }
    table_ = table;
    engine_ = engine;
    return true;
}

}  // namespace cgpu::front
