// The kernels of kernels.cu, as forms: `text` and `mnemonic` are the kernel's name.
#pragma once

#include <vector>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

const std::vector<ptx::InstructionForm>& whole_kernels();

}  // namespace warpcheck::conformance
