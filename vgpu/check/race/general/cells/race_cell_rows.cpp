#include "vgpu/check/race/general/cells/race_cell_rows.hpp"

namespace warpcheck::vgpu {

const CellRowFunctions& cell_row_functions(std::string_view level) {
  if (level == "avx512") return avx512::kCellRowFunctions;
  if (level == "avx2") return avx2::kCellRowFunctions;
  return baseline::kCellRowFunctions;
}

}  // namespace warpcheck::vgpu
