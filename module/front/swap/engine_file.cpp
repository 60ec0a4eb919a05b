#include "module/front/swap/engine_file.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "module/front/base/loading.hpp"
#include "module/front/base/paths.hpp"
#include "module/front/swap/library_file.hpp"

namespace cgpu::front {
namespace {

void* allocate(std::uint64_t bytes) { return std::malloc(bytes); }

constexpr module::EngineHost kHost{allocate, std::free};

/// Below the folder only: the daemon is trusted, but a mangled path must not load some file of the user.
bool full_path(std::string_view file, std::span<char> full) {
    const std::string_view folder = kEngineFolder;
    if (file.empty() || file.front() == '/' || file.find("..") != std::string_view::npos) return false;
    if (folder.size() + 1 + file.size() >= full.size()) return false;
    std::memcpy(full.data(), folder.data(), folder.size());
    full[folder.size()] = '/';
    std::memcpy(full.data() + folder.size() + 1, file.data(), file.size());
    return true;
}

/// Without the path in front, which the caller knows and which would leave no room for the rest.
void tell_loaders_words(std::string_view path, std::span<char> why) {
    const char* words = dlerror();
    std::string_view text = words != nullptr ? words : "the loader says nothing";
    if (text.starts_with(path)) text.remove_prefix(path.size());
    if (text.starts_with(": ")) text.remove_prefix(2);
    wire::put_text(why, text);
}

wire::SwitchResult refused(wire::SwitchResult result, std::string_view why, std::span<char> out) {
    wire::put_text(out, why);
    return result;
}

/// `running.library` is loaded.
wire::SwitchResult make_engine(std::uint32_t version, Running& running, std::span<char> why) {
    const auto table_of =
        reinterpret_cast<module::EngineTableFunction>(dlsym(running.library, module::kEngineTableSymbol));
    const module::EngineTable* table = table_of != nullptr ? table_of() : nullptr;
    if (table == nullptr) return refused(wire::SwitchResult::not_loadable, "it is no engine", why);
    if (table->abi != module::kEngineAbi || table->bytes < module::kLeastTableBytes)
        return refused(wire::SwitchResult::other_abi, "it speaks another ABI", why);
    if (version != 0 && table->version != version)
        return refused(wire::SwitchResult::other_version, "the file says that it is another version", why);
    running.table = table;
    running.engine = table->create(&kHost);
    if (running.engine == nullptr)
        return refused(wire::SwitchResult::not_loadable, "no memory for an engine", why);
    return wire::SwitchResult::done;
}

}  // namespace

wire::SwitchResult load_engine(const char* path, std::uint32_t version, Running& running,
                               std::span<char> why) {
    const Loading guard;
    running = Running{};
    std::array<char, 256> full{};
    if (!full_path(path, full))
        return refused(wire::SwitchResult::not_loadable, "the path leaves the folder of engines", why);
    if (const char* fault = fault_of_library(full.data()))
        return refused(wire::SwitchResult::not_loadable, fault, why);
    running.library = dlopen(full.data(), RTLD_NOW | RTLD_LOCAL);
    if (running.library == nullptr) {
        tell_loaders_words(full.data(), why);
        return wire::SwitchResult::not_loadable;
    }
    const auto result = make_engine(version, running, why);
    if (result != wire::SwitchResult::done) {
        dlclose(running.library);
        running = Running{};
    }
    return result;
}

void unload_engine(Running& running) {
    running.table->destroy(running.engine);
    unload_code(running);
}

void unload_code(Running& running) {
    const Loading guard;
    if (running.library != nullptr) dlclose(running.library);
    running = Running{};
}

}  // namespace cgpu::front
