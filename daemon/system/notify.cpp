#include "daemon/system/notify.hpp"

#include <systemd/sd-daemon.h>

#include <cstdint>

namespace cgpu::system {

void notify_ready(const std::string& status) { sd_notify(0, ("READY=1\nSTATUS=" + status).c_str()); }
void notify_status(const std::string& status) { sd_notify(0, ("STATUS=" + status).c_str()); }
void notify_last_status(const std::string& status) {
    constexpr std::uint64_t kPatience = 1'000'000;  // microseconds
    notify_status(status);
    sd_notify_barrier(0, kPatience);
}

void notify_reloading() { sd_notify(0, "RELOADING=1"); }
void notify_stopping() { sd_notify(0, "STOPPING=1"); }

}  // namespace cgpu::system
