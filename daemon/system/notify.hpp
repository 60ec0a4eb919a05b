#pragma once

#include <string>

/// sd_notify: messages to systemd. They have no effect if NOTIFY_SOCKET isn't set.
namespace cgpu::system {

void notify_ready(const std::string& status);
void notify_status(const std::string& status);
/// For a process that ends now: returns once systemd has received it, within a second.
void notify_last_status(const std::string& status);
void notify_reloading();
void notify_stopping();

}  // namespace cgpu::system
