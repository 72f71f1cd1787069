#include "vgpu/check/race_rows.hpp"

namespace warpcheck::vgpu {

const RowFunctions& row_functions(std::string_view level) {
  if (level == "avx512") return avx512::kRowFunctions;
  if (level == "avx2") return avx2::kRowFunctions;
  return baseline::kRowFunctions;
}

}  // namespace warpcheck::vgpu
