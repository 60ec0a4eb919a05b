#include "module/front/driver/real_driver.hpp"

namespace cgpu::front::detail {

thread_local constinit int driver_depth __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace cgpu::front::detail
