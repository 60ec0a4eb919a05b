// A driver that does nothing: one GPU, one context, addresses that count up, kernels that end when they
// begin, events with the host's time. The additional time of a call through a front is the front's own.
//
// Its GPU has the UUID in NULL_DRIVER_UUID ("GPU-" and hex digits), so that it can stand for an instance's
// GPU.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define API extern "C" __attribute__((visibility("default"))) int

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr std::uint64_t kGranule = 2U << 20;
constexpr std::uint64_t kSmallUnit = 512;

std::atomic<std::uint64_t> next_address{0x7000'0000'0000};
char the_context;

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

int uuid(unsigned char* bytes) {
    const char* text = std::getenv("NULL_DRIVER_UUID");
    if (text == nullptr || std::strncmp(text, "GPU-", 4) != 0) return kInvalidValue;
    int digits = 0;
    for (const char* at = text + 4; *at != '\0' && digits < 32; ++at) {
        const int value = digit(*at);
        if (value < 0) continue;
        unsigned char& byte = bytes[digits++ / 2];
        byte = static_cast<unsigned char>(byte << 4 | value);
    }
    return digits == 32 ? kSuccess : kInvalidValue;
}

}  // namespace

API cuInit(unsigned) { return kSuccess; }
API cuDriverGetVersion(int* version) {
    *version = 13000;
    return kSuccess;
}
API cuDeviceGetCount(int* count) {
    *count = 1;
    return kSuccess;
}
API cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return kSuccess;
}
API cuDeviceGetUuid(unsigned char* bytes, int) { return uuid(bytes); }
API cuDeviceGetUuid_v2(unsigned char* bytes, int) { return uuid(bytes); }
API cuDevicePrimaryCtxRetain(void** context, int) {
    *context = &the_context;
    return kSuccess;
}
API cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
    *flags = 0;
    *active = 1;
    return kSuccess;
}
API cuCtxSetCurrent(void*) { return kSuccess; }
API cuCtxGetCurrent(void** context) {
    *context = &the_context;
    return kSuccess;
}
API cuCtxGetDevice(int* device) {
    *device = 0;
    return kSuccess;
}
API cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
    const std::uint64_t unit = bytes < kGranule ? kSmallUnit : kGranule;
    *address = next_address.fetch_add((bytes + unit - 1) / unit * unit, std::memory_order_relaxed);
    return kSuccess;
}
API cuMemFree_v2(std::uint64_t) { return kSuccess; }

struct Event {
    std::int64_t at_ns;
};
API cuEventCreate(Event** event, unsigned) {
    *event = new Event{0};
    return kSuccess;
}
API cuEventDestroy_v2(Event* event) {
    delete event;
    return kSuccess;
}
API cuEventRecord(Event* event, void*) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->at_ns = now.tv_sec * 1'000'000'000 + now.tv_nsec;
    return kSuccess;
}
API cuEventQuery(Event*) { return kSuccess; }
API cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
    *milliseconds = static_cast<float>(static_cast<double>(to->at_ns - from->at_ns) / 1e6);
    return kSuccess;
}
API cuStreamIsCapturing(void*, int* status) {
    *status = 0;
    return kSuccess;
}
API cuThreadExchangeStreamCaptureMode(int*) { return kSuccess; }
API cuCtxSynchronize() { return kSuccess; }
API cuStreamSynchronize(void*) { return kSuccess; }
API cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**) {
    return kSuccess;
}
