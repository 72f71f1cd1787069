// A function that can be suspended in the middle, on a stack of its own, and resumed later, by any
// thread.
//
// A kernel that waits for the host has to let the call of the host return that runs it.  A thread
// for each launch would do that, too, but costs two switches of the system's for each, and what
// runs when would be the system's choice.  The function must not keep the address of a thread-local
// variable across suspend().
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace warpcheck::cudart {

class Fiber {
 public:
  // Throws std::bad_alloc where the system has no memory left.
  Fiber();
  // Not between a suspend() and its end.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // What the next resume() begins with; the last one must have ended.
  void begin(std::function<void()> function);
  // Runs the function until it ends or is suspended.  True: it has ended; throws what it has
  // thrown.
  bool resume();
  // Within the function: resume() returns, and this function when resume() is called again.
  void suspend();

 private:
  [[noreturn]] static void enter(Fiber* fiber);
  void has_come_in(void* own);

  std::byte* stack_ = nullptr;
  void* inside_ = nullptr;   // stack pointers: of the function while it is suspended,
  void* outside_ = nullptr;  // and of resume()
  std::function<void()> function_;
  std::exception_ptr thrown_;
  bool has_ended_ = true;
  // For AddressSanitizer: the stack of resume().
  const void* outside_stack_ = nullptr;
  std::size_t outside_bytes_ = 0;
};

}  // namespace warpcheck::cudart
