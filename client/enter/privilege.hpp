#pragma once

#include "client/node/values/client_error.hpp"

namespace cgpu::enter {

/// Error (not_authorized): this process has not become root. It was started without the set-uid bit, or by a
/// tracer, or in an environment where no rights can be gained.
[[nodiscard]] client::Result<void> check_root();

/// While this object lives, files are looked up and opened with the rights of the caller (the real user and
/// group; setfsuid(2)), so that a path that the caller chose can't reach a file that the caller can't.
class AsCaller {
  public:
    AsCaller();
    ~AsCaller();
    AsCaller(const AsCaller&) = delete;
    AsCaller& operator=(const AsCaller&) = delete;

    /// Whether the kernel changed the rights. Nothing may be looked up otherwise.
    [[nodiscard]] bool works() const;
};

/// Drops all rights but the caller's, and verifies that they can't come back. Irrevocable.
[[nodiscard]] client::Result<void> become_caller();

}  // namespace cgpu::enter
