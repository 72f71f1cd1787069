// Initial values of variables (PTX ISA 9.0, 5.4.4): numbers, addresses, nested rows.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// Parses what follows `=` into out.initial and out.relocations.  If the first dimension is 0, the
// number of values determines it, and out.bytes.
void parse_initializer(Context& context, const std::vector<std::uint64_t>& dimensions,
                       Variable& out);

}  // namespace warpcheck::ptx
