#pragma once

#include <array>
#include <string_view>

namespace cgpu::app {

/// What has happened. docs/cgpud.8 and units/cgpu.catalog have an entry for each of these.
enum class EventType {
    daemon_started,
    daemon_stopped,
    configuration_read,
    configuration_refused,
    instance_admitted,
    instance_refused,
    instance_resumed,
    instance_ended,
    queue_entered,
    queue_left,
    container_unmanaged,
    setting_changed,
    allocation_refused,
    escape_found,
    escape_ended,
    report_doubted,
    driver_unreachable,
    job_begun,
    job_back,
    job_ended,
    gpu_found,
    gpu_lost,
    gpu_error,
    call_denied,
    change_refused,
    mode_switch_begun,
    mode_changed,
    mode_switch_failed,
    ends_soon,
    time_over,
};

struct EventKind {
    EventType type;
    std::string_view name;        ///< as the bus and the journal have it
    std::string_view message_id;  ///< MESSAGE_ID of the journal: 128 bits, which never change
};

inline constexpr std::array<EventKind, 30> kEventKinds = {{
    {EventType::daemon_started, "daemon-started", "6cf287fbf4f74c459373bc12bc5e57ea"},
    {EventType::daemon_stopped, "daemon-stopped", "f6a82179edb14fd2864c704a6beacf0a"},
    {EventType::configuration_read, "configuration-read", "feb7853c7b3a42ceabd750f79e997269"},
    {EventType::configuration_refused, "configuration-refused", "df5a00c225b9457381ec0fdc2a998410"},
    {EventType::instance_admitted, "instance-admitted", "804d8ba3e5e44b18b07b0ed302438ad1"},
    {EventType::instance_refused, "instance-refused", "49c1765039c74b60aeada75df66f0542"},
    {EventType::instance_resumed, "instance-resumed", "f68eb9cfbbc9498191c975e7f8ba1039"},
    {EventType::instance_ended, "instance-ended", "5b448ba9e2c6464ebc2207db90d8f90e"},
    {EventType::queue_entered, "queue-entered", "12501228cdfea15dfe1e530d15d30f85"},
    {EventType::queue_left, "queue-left", "26800f2f028e3cf571f7f4b57dc55cc0"},
    {EventType::container_unmanaged, "container-unmanaged", "c496823d09604ca49bd44c87c72eed5d"},
    {EventType::setting_changed, "setting-changed", "8a03ffb5dd2443d5aa1a0eeda06f8f34"},
    {EventType::allocation_refused, "allocation-refused", "91ed9453f2944759b16d5479ec278837"},
    {EventType::escape_found, "escape-found", "ca999abc7b064fbf9cf4b8cd401e1b1c"},
    {EventType::escape_ended, "escape-ended", "82d2528fa2474567b9046cc40054239d"},
    {EventType::report_doubted, "report-doubted", "06429e4521b841b98223cebea89019e3"},
    {EventType::driver_unreachable, "driver-unreachable", "7fdbaa8453c4466ead925ba7dbda367e"},
    {EventType::job_begun, "job-begun", "69589bd775214fa7b70dd8f53ea26b6b"},
    {EventType::job_back, "job-back", "31efe29a422640a9a02302de06ab8ae0"},
    {EventType::job_ended, "job-ended", "cd1852a996584a378c42b9349bb70e22"},
    {EventType::gpu_found, "gpu-found", "dc650c918ede47eeb8cc88430685f7cd"},
    {EventType::gpu_lost, "gpu-lost", "17bcf14250d14ddbb4ed32286c5e9cd2"},
    {EventType::gpu_error, "gpu-error", "6bf68e01fd4b408e9c3779eaf6fd20f4"},
    {EventType::call_denied, "call-denied", "da54440e1a9345d18304c3468f5db7b8"},
    {EventType::change_refused, "change-refused", "71549c5c509a4427a15b7c9763b77afd"},
    {EventType::mode_switch_begun, "mode-switch-begun", "16664f6f6d1f485eb3dc982a4a02423e"},
    {EventType::mode_changed, "mode-changed", "d7241747cb4d4b3d80efe0dd247d3a39"},
    {EventType::mode_switch_failed, "mode-switch-failed", "8b65eab484ac4544a72b23a910ab8f68"},
    {EventType::ends_soon, "ends-soon", "5f377779d9e848008d922f2df47b806b"},
    {EventType::time_over, "time-over", "301b712820954694beaf146ffc905781"},
}};

[[nodiscard]] constexpr const EventKind& kind_of(EventType type) {
    return kEventKinds[static_cast<std::size_t>(type)];
}

}  // namespace cgpu::app
