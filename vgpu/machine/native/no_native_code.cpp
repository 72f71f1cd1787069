// For builds without AsmJit: there is no machine code, and all programs are interpreted.
#include "vgpu/machine/native/native_code.hpp"

namespace warpcheck::vgpu {

std::unique_ptr<NativeCode> NativeCode::compile(const Program& /*program*/, SimdLevel /*level*/,
                                                Lanes /*lanes*/, const NativeCalls& /*calls*/) {
  return nullptr;
}

std::string_view NativeCode::why_none(SimdLevel /*level*/) {
  return "this build of warpcheck has no AsmJit";
}

NativeCode::~NativeCode() = default;

}  // namespace warpcheck::vgpu
