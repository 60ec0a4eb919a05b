// Two cards as NVML shows them, for the NVML front's unit tests.
#include <cstdint>
#include <cstring>

#define API extern "C" __attribute__((visibility("default"))) int

namespace {

constexpr unsigned long long kTotal = 16ull << 30;
constexpr unsigned long long kUsed = 5ull << 30;
int cards[2];

}  // namespace

API nvmlInit_v2() { return 0; }
API nvmlDeviceGetHandleByIndex_v2(unsigned index, int** device) {
    *device = &cards[index];
    return 0;
}
API nvmlDeviceGetUUID(int* device, char* text, unsigned length) {
    const char* uuid = device == &cards[0] ? "GPU-11111111-1111-1111-1111-111111111111"
                                           : "GPU-22222222-2222-2222-2222-222222222222";
    if (length <= std::strlen(uuid)) return 7;
    std::memcpy(text, uuid, std::strlen(uuid) + 1);
    return 0;
}
API nvmlDeviceGetMemoryInfo(int*, unsigned long long* info) {
    info[0] = kTotal;
    info[1] = kTotal - kUsed;
    info[2] = kUsed;
    return 0;
}
API nvmlDeviceGetMemoryInfo_v2(int*, unsigned long long* info) {
    info[1] = kTotal;
    info[2] = 1 << 20;
    info[3] = kTotal - kUsed;
    info[4] = kUsed;
    return 0;
}
