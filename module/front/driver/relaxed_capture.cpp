#include "module/front/driver/relaxed_capture.hpp"

#include "module/front/driver/captures.hpp"
#include "module/front/driver/real_driver.hpp"

namespace cgpu::front {

RelaxedCapture::RelaxedCapture() {
    if (!captures_active()) return;
    mode_ = kCaptureRelaxed;
    exchanged_ = real::cuThreadExchangeStreamCaptureMode(&mode_) == kSuccess;
}

RelaxedCapture::~RelaxedCapture() {
    if (exchanged_) real::cuThreadExchangeStreamCaptureMode(&mode_);
}

}  // namespace cgpu::front
