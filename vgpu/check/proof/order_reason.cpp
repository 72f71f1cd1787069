#include "vgpu/check/proof/order_reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace warpcheck::vgpu {
namespace {

// Orders sides as the code has them, so that they do not depend on what was executed first.  The
// compiler unrolls loops: instructions of one line are one side.
std::vector<AccessSide> sides_of(std::vector<OrderPoint> points) {
  std::ranges::sort(points, {}, [](const OrderPoint& point) {
    return std::tuple(point.side.file, point.side.line, point.kernel, point.side.instruction);
  });
  std::vector<AccessSide> sides;
  for (OrderPoint& point : points) {
    const bool is_known = std::ranges::any_of(sides, [&](const AccessSide& side) {
      return side.line != 0 && side.line == point.side.line && side.ptx == point.side.ptx &&
             side.file == point.side.file;
    });
    if (!is_known && sides.size() < kOrderSourcesMax) sides.push_back(std::move(point.side));
  }
  return sides;
}

// "(1)", "(1) and (2)", "(1) to (3)"
std::string numbers_of(const std::vector<AccessSide>& sides) {
  if (sides.size() == 1) return "(1)";
  return fmt::format("(1) {} ({})", sides.size() == 2 ? "and" : "to", sides.size());
}

std::string_view what_it_decides(Obstacle::Kind kind) {
  switch (kind) {
    case Obstacle::Kind::address: return "what is accessed at";
    case Obstacle::Kind::branch: return "what is executed after";
    default: return "what is done at";
  }
}

}  // namespace

OrderReason reason_of(std::vector<OrderPoint> sources) {
  OrderReason reason;
  if (sources.empty()) return reason;
  reason.sides = sides_of(std::move(sources));
  reason.text = fmt::format("the order of {} decides it", numbers_of(reason.sides));
  return reason;
}

OrderReason reason_of(const std::vector<OrderFlow::Decision>& decisions) {
  OrderReason reason;
  if (decisions.empty()) return reason;
  // An address says more than the branches that lead there.
  const auto address =
      std::ranges::find(decisions, Obstacle::Kind::address, &OrderFlow::Decision::kind);
  const OrderFlow::Decision& told = address == decisions.end() ? decisions.front() : *address;
  reason.sides = sides_of(told.sources);
  reason.text = fmt::format("the order of {} decides {} ({})", numbers_of(reason.sides),
                            what_it_decides(told.kind), reason.sides.size() + 1);
  reason.sides.push_back(told.at);
  return reason;
}

}  // namespace warpcheck::vgpu
