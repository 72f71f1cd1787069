#include "vgpu/check/init/reported_origins.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpcheck::vgpu {

std::string Origin::source(const std::string& verb, int side) const {
  switch (kind) {
    case Kind::load: return "bytes that nothing " + verb;
    case Kind::shuffle:
      return fmt::format(
          "the register of a lane that takes no part in ({}): it is not in the mask, or has exited",
          side);
    case Kind::product:
      return fmt::format("the result of ({}), which wgmma.wait_group had not waited for", side);
    case Kind::tensor_memory: return "tensor memory that nothing " + verb;
    case Kind::variable: break;
  }
  return fmt::format("a variable that nothing {} before ({}) reads it", verb, side);
}

void ReportedOrigins::see(const UndefinedValuesListener::First& first) {
  if (first.index >= seen_.size()) seen_.resize(first.index + 1);
  Seen& seen = seen_[first.index];
  const CodePlace place =
      reporter_.place_of(*first.program, first.pc, thread_of(first.place, first.lane));
  seen.block = place.block;
  seen.thread = place.thread;
  if (first.load == nullptr) return;
  seen.space = first.load->space;
  seen.object = describe_element(*first.load, first.lane);
  // A block's private memory may be gone when its value is used, and the host has never written it.
  const bool is_of_host = first.load->allocation->space == ptx::Space::global;
  seen.allocation = is_of_host ? first.load->allocation : nullptr;
  seen.offset = first.load->offset[first.lane];
  seen.variable = variable_of(*first.load->allocation, first.load->offset[first.lane]);
}

std::uint32_t ReportedOrigins::see(const LibraryOperand& operand) {
  const auto known = std::ranges::find_if(operands_, [&](const LibraryOperand& one) {
    return one.call_site == operand.call_site && one.number == operand.number;
  });
  const auto number = static_cast<std::uint32_t>(known - operands_.begin());
  if (known == operands_.end()) operands_.push_back(operand);
  return number;
}

Origin ReportedOrigins::of(std::uint32_t index, const UndefinedOrigin& origin) const {
  Origin reported;
  static_cast<UndefinedOrigin&>(reported) = origin;
  if (origin.program == nullptr) {
    reported.space = ptx::Space::global;
    const auto known = std::ranges::find_if(operands_, [&](const LibraryOperand& one) {
      return one.call_site == origin.call_site && one.number == origin.operand;
    });
    if (known != operands_.end()) reported.of_library = *known;
    return reported;
  }
  const Seen& seen = seen_[index];
  reported.space = seen.space;
  reported.object =
      origin.kind == UndefinedOrigin::Kind::tensor_memory ? "tensor memory" : seen.object;
  reported.variable = seen.variable;
  reported.allocation = seen.allocation;
  reported.offset = seen.offset;
  reported.block = seen.block;
  reported.thread = seen.thread;
  return reported;
}

}  // namespace warpcheck::vgpu
