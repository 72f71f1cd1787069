#include "vgpu/cudart/host_watch/host_decoder.hpp"

namespace warpcheck::cudart {

csh host_decoder() {
  static const csh made = [] {
    csh handle = SIZE_MAX;
    if (::cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) return csh{SIZE_MAX};
    ::cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    return handle;
  }();
  return made;
}

}  // namespace warpcheck::cudart
