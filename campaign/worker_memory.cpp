#include "campaign/worker_memory.hpp"

namespace warpcheck::campaign {

std::string SharedWorkerMemory::input() const {
  const WorkerMemory& memory = **this;
  const std::size_t size = std::min<std::size_t>(memory.input_bytes.load(), kCorpusBytesMax);
  return {memory.input.begin(), memory.input.begin() + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace warpcheck::campaign
