#pragma once

#include "client/node/client_error.hpp"

namespace cgpu::enter {

/// Error (not_authorized): this process has not become root. It was started without the set-uid bit, or by a
/// tracer, or where no rights can be gained.
[[nodiscard]] client::Result<void> check_root();

/// While it is there, files are looked up and opened with the rights of the caller (the real user and group;
/// setfsuid(2)), so that a path of the caller's choice leads nowhere where the caller can't go.
class AsCaller {
  public:
    AsCaller();
    ~AsCaller();
    AsCaller(const AsCaller&) = delete;
    AsCaller& operator=(const AsCaller&) = delete;

    /// Whether the kernel did it. Nothing may be looked up where it did not.
    [[nodiscard]] bool works() const;
};

/// Gives up all rights but the caller's, and makes sure that they can't come back. Not to be undone.
[[nodiscard]] client::Result<void> become_caller();

}  // namespace cgpu::enter
