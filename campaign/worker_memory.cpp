#include "campaign/worker_memory.hpp"

#include <sys/mman.h>

#include <new>

namespace warpcheck::campaign {

SharedWorkerMemory::SharedWorkerMemory() {
  void* memory = ::mmap(nullptr, sizeof(WorkerMemory), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw StoreError("no memory to share with a worker");
  memory_ = new (memory) WorkerMemory{};
}

SharedWorkerMemory::~SharedWorkerMemory() { ::munmap(memory_, sizeof(WorkerMemory)); }

std::string SharedWorkerMemory::input() const {
  const std::size_t size = std::min<std::size_t>(memory_->input_bytes.load(), kCorpusBytesMax);
  return {memory_->input.begin(), memory_->input.begin() + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace warpcheck::campaign
