// For LD_PRELOAD in a job: writes over the process's report page all the time. FORGE has the words below.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "core/wire/pages.hpp"

namespace {

cgpu::wire::Reports* find_page() {
    std::FILE* maps = std::fopen("/proc/self/maps", "re");
    if (maps == nullptr) return nullptr;
    cgpu::wire::Reports* found = nullptr;
    char line[512];
    while (found == nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long begin = 0;
        if (std::strstr(line, "rw-s") == nullptr || std::strstr(line, "memfd") == nullptr) continue;
        if (std::sscanf(line, "%lx", &begin) != 1) continue;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel writes the address as a number
        auto* page = reinterpret_cast<cgpu::wire::Reports*>(begin);
        if (page->magic == cgpu::wire::kReportsMagic) found = page;
    }
    std::fclose(maps);
    return found;
}

void forge(const std::string& words) {
    const auto has = [&](const char* word) { return words.find(word) != std::string::npos; };
    cgpu::wire::Reports* page = nullptr;
    while (page == nullptr) {
        usleep(2000);
        page = find_page();
    }
    auto& report = page->gpus[0];
    const std::int64_t hour = 3'600'000'000'000;
    for (std::uint64_t round = 0;; ++round) {
        if (has("constant")) report.used_ns = hour;
        if (has("swings")) report.used_ns = round / 1000 % 2 == 0 ? 0 : hour;
        if (has("nothing-left")) report.in_flight_ns = report.oldest_ns = 0;
        if (has("idle")) report.wants = report.syncing = 0;
        if (has("waits")) report.waited_ns = static_cast<std::int64_t>(round) * 1'000'000;
    }
}

[[gnu::constructor]] void begin() {
    const char* words = std::getenv("FORGE");
    if (words == nullptr) return;
    // The program's own threads take its signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(forge, std::string(words)).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
