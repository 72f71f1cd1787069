// The .loc directive (PTX ISA 9.0, 11.5.5): the source of the following instructions.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// The column of an instruction that the optimiser has made of instructions of several lines; its
// line is that of the instruction before.
inline constexpr std::uint32_t kMergedColumn = UINT32_MAX;

// Reads the .loc directives of one function.
class LocationReader {
 public:
  explicit LocationReader(Context& context) : context_(context) {}

  // Reads what follows `.loc`:
  // `file line column [, function_name label [+ number], inlined_at file line column]`
  SourceLocation read();

 private:
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  // What a directive says of a place beside its numbers: SourceLocation.
  struct Caller {
    std::uint32_t inlined_at = kNone, function = kNone;
    friend auto operator<=>(const Caller&, const Caller&) = default;
  };
  Place read_place();
  std::uint32_t intern(const SourceLocation& location);

  // Returns the chain of callers of a call.  A function that is inlined several times has one call
  // with several chains, and nvcc does not repeat a chain that it has stated before.  The chain is
  // the one that shares most callers with the previous directive; among several, the latest.
  Caller chain_of(const Place& place) const;
  std::vector<std::uint32_t> with_callers(const SourceLocation& location) const;

  Context& context_;
  std::map<Place, std::vector<Caller>> chains_;  // by place, the latest last
  std::vector<std::uint32_t>
      callers_;  // of what the last directive said, and that itself if it calls
  std::map<std::pair<Place, Caller>, std::uint32_t> interned_;
};

// Notes which files the .loc directives of a body name, without parsing it.
//   function: its name
void note_files(Context& context, std::string_view body, std::string_view function);

}  // namespace warpcheck::ptx
