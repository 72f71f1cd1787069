// The .loc directive (PTX ISA 9.0, 11.5.5): where the following instructions come from.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

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

  // The chain of a call.  A function that is inlined several times has one call with several
  // chains, and nvcc does not state a chain again that it has stated before.  The one is meant that
  // shares most callers with the directive before; of several, the latest.
  std::uint32_t chain_of(const Place& place) const;
  std::vector<std::uint32_t> with_callers(const SourceLocation& location) const;

  Context& context_;
  std::map<Place, std::vector<std::uint32_t>> chains_;  // of each place, the latest last
  std::vector<std::uint32_t>
      callers_;  // of what the last directive said, and that itself if it calls
  std::map<std::pair<Place, std::uint32_t>, std::uint32_t> interned_;
};

}  // namespace warpcheck::ptx
