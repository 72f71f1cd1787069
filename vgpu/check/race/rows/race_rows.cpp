#include "vgpu/check/race/rows/race_rows.hpp"

namespace warpcheck::vgpu {

const RaceRowFunctions& race_row_functions(std::string_view level) {
  if (level == "avx512") return avx512::kRaceRowFunctions;
  if (level == "avx2") return avx2::kRaceRowFunctions;
  return baseline::kRaceRowFunctions;
}

}  // namespace warpcheck::vgpu
