#pragma once

#include <string>

/// sd_notify: what systemd is told. Without effect where NOTIFY_SOCKET isn't set.
namespace cgpu::system {

void notify_ready(const std::string& status);
void notify_status(const std::string& status);
/// Of a process that ends now: returns once systemd has taken it, within a second.
void notify_last_status(const std::string& status);
void notify_reloading();
void notify_stopping();

}  // namespace cgpu::system
