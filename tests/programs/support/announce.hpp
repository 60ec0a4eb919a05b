#pragma once

/// What only a hostile program does: it sends messages in the module's name.
namespace programs {

/// Tells cgpud over the module's own connection that memory of the job's first GPU was allocated or freed,
/// and at the next call that the last context there is gone. Neither is true. It does nothing where the
/// module is not connected.
void announce();

}  // namespace programs
