// The .loc directive (PTX ISA 9.0, 11.5.5): where the following instructions come from.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// Of one function.
class LocationReader {
 public:
  explicit LocationReader(Context& context) : context_(context) {}

  // Reads what follows `.loc`:
  // `file line column [, function_name label [+ number], inlined_at file line column]`
  SourceLocation read();

 private:
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  Place read_place();
  std::uint32_t intern(const SourceLocation& location);

  Context& context_;
  std::map<Place, std::uint32_t> inlined_at_;  // the latest chain of each place
  std::map<std::pair<Place, std::uint32_t>, std::uint32_t> interned_;
};

}  // namespace warpcheck::ptx
