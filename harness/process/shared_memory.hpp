// A T in pages that a process shares with its later forks: counters, heartbeats.
#pragma once

#include <sys/mman.h>

#include <new>
#include <type_traits>

namespace warpcheck {

template <class T>
class SharedMemory {
  static_assert(std::is_trivially_destructible_v<T>,
                "no process knows that it is the last user, so none runs the destructor");

 public:
  // Throws std::bad_alloc.
  SharedMemory() {
    void* const memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = new (memory) T{};
  }
  ~SharedMemory() { ::munmap(memory_, sizeof(T)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  T& operator*() const { return *memory_; }
  T* operator->() const { return memory_; }

 private:
  T* memory_;
};

}  // namespace warpcheck
