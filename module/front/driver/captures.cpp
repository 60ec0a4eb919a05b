#include "module/front/driver/captures.hpp"

#include "module/front/driver/real_driver.hpp"

namespace cgpu::front {

bool is_capturing(CUstream stream) {
    if (!captures_active()) return false;
    int status = kCaptureNone;
    // An error means that this stream can't be used while another is captured: in any case the call is not
    // GPU work.
    return real::cuStreamIsCapturing(stream, &status) != kSuccess || status != kCaptureNone;
}

}  // namespace cgpu::front
