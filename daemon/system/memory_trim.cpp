#include "daemon/system/memory_trim.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

namespace cgpu::system {
namespace {

/// Segments that the process may not write have the content of their file, so they can be mapped again. Those
/// that relocation has written to are among the writable ones, though they are read-only afterwards (RELRO).
int unmap_constant_segments(dl_phdr_info* object, std::size_t, void*) {
    static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
        const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) & ~(page - 1);
        const std::uintptr_t end =
            (object->dlpi_addr + segment.p_vaddr + segment.p_memsz + page - 1) & ~(page - 1);
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as numbers
        madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
    return 0;
}

}  // namespace

void return_unused_memory() {
    malloc_trim(0);
    dl_iterate_phdr(unmap_constant_segments, nullptr);
}

MemoryTrim::MemoryTrim(app::Loop& loop, std::function<void()> trim) : loop_(loop), trim_(std::move(trim)) {}

void MemoryTrim::happened(const app::Event&, const app::Stamp&) { used_memory(); }

void MemoryTrim::used_memory() {
    last_event_ = loop_.now();
    if (!timer_) wait_for_quiet();
}

void MemoryTrim::wait_for_quiet() {
    try {
        timer_ = loop_.at(last_event_ + kQuiet, [this] {
            if (loop_.now() < last_event_ + kQuiet) return wait_for_quiet();
            timer_.reset();
            trim_();
        });
    } catch (const std::system_error&) {
        timer_.reset();  // the loop has ended, as when cgpud stops, or there is no memory for a timer
    }
}

}  // namespace cgpu::system
