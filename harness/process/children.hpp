// Whether a process hears how its children end.
//
// The system forgets the children of a process that ignores SIGCHLD as they end, so their status
// cannot be asked for.  A process inherits that from the one that has started it.
#pragma once

namespace warpcheck {

// From now on, the children of this process are not forgotten.
void hear_of_children();
// SIGCHLD is again as it was before hear_of_children(): for a child that runs a program of the
// user.
void restore_children_signal();

}  // namespace warpcheck
