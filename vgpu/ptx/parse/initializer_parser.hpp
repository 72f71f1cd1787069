// Initial values of variables (PTX ISA 9.0, 5.4.4): numbers, addresses, nested rows.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// Reads what follows `=` into out.initial and out.relocations.  A first dimension of 0 takes its
// size, and out.bytes, from the number of values.
void parse_initializer(Context& context, const std::vector<std::uint64_t>& dimensions,
                       Variable& out);

}  // namespace warpcheck::ptx
