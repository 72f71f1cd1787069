// The resolution of the addresses of an access.  Internal to vgpu/machine/native.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/native/call_emitter.hpp"
#include "vgpu/machine/native/site.hpp"

namespace warpcheck::vgpu::native {

class SiteEmitter : public CallEmitter {
 protected:
  using CallEmitter::CallEmitter;

  void check_lanes(const Site& site, bool strided, asmjit::Label otherwise);
  void find_row(const Site& site, bool strided);
  void add_origin(const Site& site, std::size_t offset);
  void find_offsets(const Site& site);

 private:
  void find_part(const Site& site, std::uint32_t byte);
};

}  // namespace warpcheck::vgpu::native
