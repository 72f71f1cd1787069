// Programs that describe their own allocators by NVTX (nvToolsExtMem.h: pools, regions,
// permissions, names).  These descriptions are not followed, and the report says so.
//
// libwarpcheck_nvtx.so (nvtx_tool.cpp) calls the function below for each extension of NVTX that a
// program uses.
#include <cstdint>

#include "vgpu/cudart/exec/exec_session.hpp"

namespace {

// The beginning of nvtxExtModuleInfo_t.
struct ModuleInfo {
  std::uint16_t version, bytes, module;
};
constexpr std::uint16_t kMemory = 1;  // NVTX_EXT_MODULEID_MEM

}  // namespace

// Returns 0: there is no tool for this extension, so its functions do nothing.
extern "C" [[gnu::visibility("default")]] int warpcheck_nvtx_extension(const ModuleInfo* info) {
  using warpcheck::cudart::ExecSession;
  ExecSession* const session = ExecSession::instance();
  if (session != nullptr && info != nullptr && info->module == kMemory) {
    session->not_checked(
        "the ends, permissions and names of memory that the program describes by NVTX "
        "(nvtxMem...)");
  }
  return 0;
}
