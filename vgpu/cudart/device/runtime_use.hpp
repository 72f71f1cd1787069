// Records whether the program has called the runtime API, which initialises the driver API and
// makes a device's primary context current to the calling thread (CUDA Runtime API, "Interactions
// with the CUDA Driver API").
#pragma once

namespace warpcheck::cudart {

void note_runtime_use();
bool runtime_was_used();
bool runtime_was_used_by_this_thread();

// Must be called when a call needs the device.
void note_device_use();
// Returns whether this process is a fork() of a process that had used the device; CUDA cannot be
// used in it.
bool device_was_used_before_fork();
// Lets this process use the device although it is such a fork(): a debugger's copy of a process.
void forget_fork();

}  // namespace warpcheck::cudart
