// Arguments of a launch as driver API programs pass them: the address of each argument, or one
// block with all of them (`extra`), which the runtime API does not have.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace warpcheck::cudart {

class LaunchArguments {
 public:
  LaunchArguments(CUfunction function, void** parameters, void** extra)
      : function_(reinterpret_cast<const void*>(function)),
        parameters_(parameters),
        extra_(extra) {}

  // cudaSuccess: get() returns the address of each argument.
  cudaError_t read();
  [[nodiscard]] void** get() const { return parameters_; }

 private:
  // Returns whether there is such a parameter, with its place in the block.
  bool find_parameter(std::size_t index, std::size_t& offset, std::size_t& size) const;

  const void* function_;
  void** parameters_;
  void** extra_;
  std::vector<void*> addresses_;
};

}  // namespace warpcheck::cudart
