// A fiber: a function on a stack of its own that can be suspended in the middle and resumed later,
// by any thread.
//
// A kernel that waits for the host must let the host call that runs it return.  A thread for each
// launch would allow that too, but it would cost two context switches of the system for each
// launch, and the system would choose which one runs.  The function must not keep the address of a
// thread-local variable across suspend().
#pragma once

#include <cstddef>
#include <exception>
#include <functional>

namespace warpcheck::cudart {

class Fiber {
 public:
  // Throws std::bad_alloc if the system has no memory left.
  Fiber();
  // Must not be called while the function is suspended.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Sets the function that the next resume() starts; the previous one must have ended.
  void begin(std::function<void()> function);
  // Runs the function until it ends or is suspended.  True: it has ended; exceptions of the
  // function are rethrown.
  bool resume();
  // Called in the function: makes resume() return; continues when resume() is called again.
  void suspend();

 private:
  [[noreturn]] static void enter(Fiber* fiber);
  void has_come_in(void* own);

  std::byte* stack_ = nullptr;
  void* inside_ = nullptr;   // stack pointers: of the suspended function,
  void* outside_ = nullptr;  // and of resume()
  std::function<void()> function_;
  std::exception_ptr thrown_;
  bool has_ended_ = true;
  // For AddressSanitizer: the stack from which resume() was called.
  const void* outside_stack_ = nullptr;
  std::size_t outside_bytes_ = 0;
};

}  // namespace warpcheck::cudart
