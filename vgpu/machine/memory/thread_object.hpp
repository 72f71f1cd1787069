#pragma once

// An object of each thread that can still be used while a process ends.
//
// exit() destroys the main thread's thread-local objects before the static ones, and a program's
// static objects may call the runtime in their destructors.  So the end of a thread frees what the
// object holds, and leaves a valid, empty object behind.

namespace warpcheck::vgpu {

// `T` is a container: an empty one needs no destructor.  Declare it `thread_local`.
template <class T>
union ThreadObject {
  T value;
  ThreadObject() : value() {}
  ThreadObject(const ThreadObject&) = delete;
  ThreadObject& operator=(const ThreadObject&) = delete;
  ~ThreadObject() { T().swap(value); }
};

}  // namespace warpcheck::vgpu
