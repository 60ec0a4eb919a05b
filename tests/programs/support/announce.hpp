#pragma once

/// What only a hostile program does: it speaks for the module in it.
namespace programs {

/// Tells cgpud over the module's own connection that memory of the job's first GPU has moved, and the next
/// time that the last context there is gone; nothing of it true. Does nothing where the module isn't
/// connected.
void announce();

}  // namespace programs
