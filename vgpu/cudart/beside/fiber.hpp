// A function that can be left in the middle, on a stack of its own, and gone on with later, by any
// thread.
//
// A kernel that waits for the host has to let the call of the host return that runs it.  A thread
// for each launch would do that, too, but costs two switches of the system's for each, and what
// runs when would be the system's choice.  The function must not keep the address of a thread-local
// variable across leave().
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
  // Not between a leave() and its end.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // What the next go_on() begins with; the last one must have ended.
  void begin(std::function<void()> function);
  // Runs the function until it ends or leaves.  True: it has ended; throws what it has thrown.
  bool go_on();
  // Within the function: go_on() returns, and this does when it is called again.
  void leave();

 private:
  [[noreturn]] static void enter(Fiber* fiber);
  void has_come_in(void* own);

  std::byte* stack_ = nullptr;
  void* inside_ = nullptr;   // stack pointers: of the function that has been left,
  void* outside_ = nullptr;  // and of go_on()
  std::function<void()> function_;
  std::exception_ptr thrown_;
  bool has_ended_ = true;
  // For AddressSanitizer: the stack of go_on().
  const void* outside_stack_ = nullptr;
  std::size_t outside_bytes_ = 0;
};

}  // namespace warpcheck::cudart
