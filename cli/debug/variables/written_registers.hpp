// Whether a register can have been written before an instruction.  The machine keeps values of
// registers, not whether they have any; a register that no path to the place writes has none.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::debug {

// Returns whether some path from the function's beginning to the instruction at that line of the
// text writes a register of that name.  True, if the text does not say.
bool may_be_written(const ptx::Function& function, std::string_view register_name,
                    std::uint32_t ptx_line);

}  // namespace warpcheck::debug
