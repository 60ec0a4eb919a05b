#include "module/front/driver/visible_devices.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <dlfcn.h>

// NOLINTBEGIN(performance-no-int-to-ptr): the loader's tables have addresses as numbers.
namespace cgpu::front {
namespace {

constexpr const char* kAsked = "CUDA_VISIBLE_DEVICES";
constexpr const char* kOwn = "NVIDIA_VISIBLE_DEVICES";
constexpr std::string_view kUuid = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
/// Sixteen UUIDs with their commas, and room.
constexpr std::size_t kLongest = 1024;

/// The entry in front of the first comma, without blanks around it; `list` loses it, and the comma.
std::string_view take_entry(std::string_view& list) {
    const auto comma = list.find(',');
    std::string_view entry = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
    return entry;
}

/// A number of at most four digits; -1: it is none.
int number_in(std::string_view entry) {
    if (entry.empty() || entry.size() > 4) return -1;
    int number = 0;
    for (const char c : entry) {
        if (c < '0' || c > '9') return -1;
        number = number * 10 + (c - '0');
    }
    return number;
}

bool is_list_of_uuids(std::string_view list) {
    if (list.empty()) return false;
    while (!list.empty()) {
        const std::string_view entry = take_entry(list);
        if (entry.size() != kUuid.size() || entry.substr(0, 4) != kUuid.substr(0, 4)) return false;
    }
    return true;
}

/// Empty: there is none of this number.
std::string_view entry_at(std::string_view list, int number) {
    std::string_view entry;
    for (int i = 0; i <= number; ++i) {
        if (list.empty()) return {};
        entry = take_entry(list);
    }
    return entry;
}

/// Several, because threads may read it at once; without a lock, which a forked child could find taken.
constexpr unsigned kTexts = 8;
char texts[kTexts][kLongest];
constinit std::atomic<unsigned> next_text{0};

/// Stands in the place of the library's getenv.
char* read_variable(const char* name) {
    char* const value = std::getenv(name);
    if (value == nullptr || std::strcmp(name, kAsked) != 0) return value;
    const char* const own = std::getenv(kOwn);
    // The driver reads it when it is initialised, and keeps the text for no longer.
    char* const text = texts[next_text.fetch_add(1, std::memory_order_relaxed) % kTexts];
    return own != nullptr && own_devices(value, own, text, kLongest) ? text : value;
}

/// A part of a library that the loader makes unwritable after it has bound it; empty: there is none.
struct Protected {
    const link_map* map;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

int find_protected(dl_phdr_info* info, std::size_t, void* data) {
    auto& found = *static_cast<Protected*>(data);
    if (info->dlpi_addr != found.map->l_addr) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        if (info->dlpi_phdr[i].p_type != PT_GNU_RELRO) continue;
        found.begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        found.end = found.begin + info->dlpi_phdr[i].p_memsz;
    }
    return 1;
}

void put(std::uintptr_t slot, const Protected& read_only) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    void* const start = reinterpret_cast<void*>(slot & ~(page - 1));
    // The loader protects whole pages only: up to the last one that is full.
    const bool locked = slot >= (read_only.begin & ~(page - 1)) && slot < (read_only.end & ~(page - 1));
    if (locked && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return;
    reinterpret_cast<std::atomic<void*>*>(slot)->store(reinterpret_cast<void*>(&read_variable),
                                                       std::memory_order_relaxed);
    if (locked) mprotect(start, page, PROT_READ);
}

/// The tables of a library by which the loader binds its calls.
struct Tables {
    const ElfW(Rela) * calls = nullptr;
    std::size_t calls_bytes = 0;
    const ElfW(Rela) * others = nullptr;
    std::size_t others_bytes = 0;
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
};

Tables tables_of(const link_map& map) {
    Tables tables;
    // The GNU C Library has made addresses of most of these already.
    const auto at = [&map](ElfW(Addr) address) {
        return address < map.l_addr ? address + map.l_addr : address;
    };
    for (const auto* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_JMPREL)
            tables.calls = reinterpret_cast<const ElfW(Rela)*>(at(entry->d_un.d_ptr));
        if (entry->d_tag == DT_PLTRELSZ) tables.calls_bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_RELA)
            tables.others = reinterpret_cast<const ElfW(Rela)*>(at(entry->d_un.d_ptr));
        if (entry->d_tag == DT_RELASZ) tables.others_bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_SYMTAB)
            tables.symbols = reinterpret_cast<const ElfW(Sym)*>(at(entry->d_un.d_ptr));
        if (entry->d_tag == DT_STRTAB) tables.names = reinterpret_cast<const char*>(at(entry->d_un.d_ptr));
    }
    return tables;
}

void bind(const link_map& map, const Tables& tables, const ElfW(Rela) * list, std::size_t bytes,
          const Protected& read_only) {
    for (std::size_t i = 0; list != nullptr && i < bytes / sizeof *list; ++i) {
        const auto type = ELF64_R_TYPE(list[i].r_info);
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
        const auto& symbol = tables.symbols[ELF64_R_SYM(list[i].r_info)];
        if (std::strcmp(tables.names + symbol.st_name, "getenv") == 0)
            put(map.l_addr + list[i].r_offset, read_only);
    }
}

}  // namespace

bool own_devices(const char* asked, const char* own, char* to, std::size_t size) {
    std::string_view list = asked;
    if (!is_list_of_uuids(own) || number_in(take_entry(list)) < 0) return false;
    char made[kLongest];
    std::size_t length = 0;
    for (list = asked; !list.empty();) {
        const int number = number_in(take_entry(list));
        const std::string_view uuid = number < 0 ? std::string_view() : entry_at(own, number);
        if (uuid.empty()) break;
        if (length + uuid.size() + 2 > sizeof made) return false;
        if (length > 0) made[length++] = ',';
        std::memcpy(made + length, uuid.data(), uuid.size());
        length += uuid.size();
    }
    if (length == 0) {
        made[length++] = '-';
        made[length++] = '1';
    }
    if (length + 1 > size) return false;
    std::memcpy(to, made, length);
    to[length] = '\0';
    return true;
}

void let_read_own_devices(void* library) {
    const link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_ld == nullptr) return;
    const Tables tables = tables_of(*map);
    if (tables.symbols == nullptr || tables.names == nullptr) return;
    Protected read_only{map};
    dl_iterate_phdr(find_protected, &read_only);
    bind(*map, tables, tables.calls, tables.calls_bytes, read_only);
    bind(*map, tables, tables.others, tables.others_bytes, read_only);
}

}  // namespace cgpu::front
// NOLINTEND(performance-no-int-to-ptr)
