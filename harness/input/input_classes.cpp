#include "harness/input/input_classes.hpp"

namespace warpcheck::input_classes_detail {

void Visitor::operator()(std::string_view name, bool holds) const {
  visit_(field_ + ": " + std::string(name), holds);
}

void visit_size(std::size_t size, const Neighbours& neighbours, const Visitor& visit) {
  const auto n = static_cast<std::int64_t>(size);
  visit("zero", n == 0);
  visit("one", n == 1);
  visit("odd", n % 2 == 1);
  visit("prime", is_prime(n));
  visit("power of two", is_power_of_two(n));
  visit("power of two +-1", is_near_power_of_two(n));
  visit("warp edge", is_edge(n, kWarpSize));
  visit("multiple of 32", n > 0 && n % kWarpSize == 0);
  if (neighbours.has_launch) {
    visit("block edge",
          neighbours.block > 0 && is_edge(n, static_cast<std::int64_t>(neighbours.block)));
  }
}

void visit_launch(const LaunchConfig& launch, const Neighbours& neighbours, const Visitor& visit) {
  const auto dimensions = [](const Dim3& extents) {
    return extents.z > 1 ? 3 : extents.y > 1 ? 2 : 1;
  };
  const int dims = std::max(dimensions(launch.grid), dimensions(launch.block));
  visit("one block", launch.blocks() == 1);
  visit("several blocks", launch.blocks() > 1);
  visit("block of one thread", launch.block.count() == 1);
  visit("largest block", launch.block.count() == 1024);
  visit("block below a warp", launch.block.count() < 32);
  visit("block not a multiple of 32", launch.block.count() % 32 != 0);
  visit("two dimensions", dims == 2);
  visit("three dimensions", dims == 3);
  if (!neighbours.has_elements) return;
  visit("as many threads as elements", launch.threads() == neighbours.elements);
  visit("idle threads", launch.threads() > neighbours.elements);
  visit("fewer threads than elements", launch.threads() < neighbours.elements);
}

template void visit_vector(const std::vector<int>&, const std::string&, const Neighbours&,
                           InputClassVisitor);
template void visit_vector(const std::vector<std::uint32_t>&, const std::string&, const Neighbours&,
                           InputClassVisitor);
template void visit_vector(const std::vector<float>&, const std::string&, const Neighbours&,
                           InputClassVisitor);
template void visit_vector(const std::vector<double>&, const std::string&, const Neighbours&,
                           InputClassVisitor);

}  // namespace warpcheck::input_classes_detail
