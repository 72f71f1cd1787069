#include "vgpu/cudart/device/suppositions.hpp"

namespace warpcheck::cudart {

Suppositions& suppositions() {
  static Suppositions supposed;
  return supposed;
}

}  // namespace warpcheck::cudart
