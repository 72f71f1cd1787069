#include "vgpu/check/counters/lane_shapes.hpp"

namespace warpcheck::vgpu {

const LaneShapeFunctions& lane_shape_functions(std::string_view level) {
  if (level == "avx512") return avx512::kLaneShapeFunctions;
  if (level == "avx2") return avx2::kLaneShapeFunctions;
  return baseline::kLaneShapeFunctions;
}

}  // namespace warpcheck::vgpu
