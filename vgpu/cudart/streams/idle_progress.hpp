// Operations run although the program calls nothing.
//
// They run when the host waits for them by a call.  A program may also wait by other means: for a
// condition variable that a callback sets, or in a loop until a kernel has written a flag in
// page-locked memory.  A GPU goes on meanwhile; so does the device of a plain program, once its
// process has slept or called nothing for a while.  In trials nothing of that happens.
//
// When that is depends on the machine, in which order operations run does not.
#pragma once

namespace warpcheck::cudart {

class Device;

// Makes sure that operations which wait will run.  Cheap after the first time.
void watch_for_idle_host(Device& device);

// Whether the process has threads other than the calling one and the one that watches.
bool other_threads_may_run();

}  // namespace warpcheck::cudart
