#include "vgpu/check/lifetime.hpp"

#include "vgpu/check/fault.hpp"

namespace warpcheck::vgpu {

void LifetimeChecker::on_fault(const Fault& fault) {
  if (fault.kind != Fault::Kind::use_after_free) return;
  report_fault(reporter_, fault, FindingKind::use_after_free,
               "(1) uses memory that has been freed");
}

}  // namespace warpcheck::vgpu
