#include "campaign/slate.hpp"

#include <sys/mman.h>

#include <new>

namespace warpcheck::campaign {

SharedSlate::SharedSlate() {
  void* memory =
      ::mmap(nullptr, sizeof(Slate), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw StoreError("no memory to share with a worker");
  slate_ = new (memory) Slate{};
}

SharedSlate::~SharedSlate() { ::munmap(slate_, sizeof(Slate)); }

std::string SharedSlate::input() const {
  const std::size_t size = std::min<std::size_t>(slate_->input_bytes.load(), kCorpusBytesMax);
  return {slate_->input.begin(), slate_->input.begin() + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace warpcheck::campaign
