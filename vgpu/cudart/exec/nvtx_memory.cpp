// Programs that describe their own allocators by NVTX (nvToolsExtMem.h: pools, regions,
// permissions, names).  These descriptions are not followed, and the report says so.
//
// `exec` names this library in NVTX_INJECTION64_PATH; NVTX calls the function below for each of its
// extensions that a program uses (nvtx3/nvtxDetail/nvtxExtInit.h).
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
extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtxExtension(
    const ModuleInfo* info) {
  using warpcheck::cudart::ExecSession;
  ExecSession* const session = ExecSession::instance();
  if (session != nullptr && info != nullptr && info->module == kMemory) {
    session->not_checked(
        "the ends, permissions and names of memory that the program describes by NVTX "
        "(nvtxMem...)");
  }
  return 0;
}
