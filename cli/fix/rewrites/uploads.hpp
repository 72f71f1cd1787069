// Copies to the device that a program has left out.
#pragma once

#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/rewrites/host_rewrites.hpp"

namespace warpcheck {

// `cudaMemcpy(p, &x, sizeof(x), cudaMemcpyHostToDevice);` before the first launch behind
// `cudaMalloc(&p, bytes);`, for each variable of the function that no copy uses yet.
std::vector<Patch> left_uploads(const HostCalls& calls);

}  // namespace warpcheck
