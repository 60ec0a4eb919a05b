#include "module/front/driver/stream_key.hpp"

namespace cgpu::front::detail {

thread_local constinit char thread_mark __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace cgpu::front::detail
