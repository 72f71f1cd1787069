// The resolution of the addresses of an access.  Internal to vgpu/machine/native.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "vgpu/machine/native/call_emitter.hpp"
#include "vgpu/machine/native/flow/shared_addresses.hpp"
#include "vgpu/machine/native/site.hpp"

namespace warpcheck::vgpu::native {

class SiteEmitter : public CallEmitter {
 protected:
  using CallEmitter::CallEmitter;

  // How the addresses of a group of accesses lie, as the code of its first access leaves it on the
  // stack. found: in any order, and the stack has the offsets, of which all near accesses of the
  // group are known to be in the same memory.
  enum class Shape : std::uint8_t { strided = 1, uniform, scattered, found };
  using Share = SharedAddresses::Share;
  void put_shape(const Share& share, Shape shape) {
    a.mov(shape_of(share), static_cast<int>(shape));
  }

  void check_lanes(const Site& site, const std::optional<Share>& share, bool strided,
                   asmjit::Label otherwise);
  void find_row(const Site& site, bool strided);
  void add_origin(const Site& site, std::size_t offset);
  void find_offsets(const Site& site);
  void find_offsets_of_all(const Site& site, const Share& share, asmjit::Label otherwise);
  void find_offsets_again(const Site& site, const Share& share, asmjit::Label otherwise);

 private:
  // On the stack: rows of offsets, then shapes.
  [[nodiscard]] static x86::Mem shape_of(const Share& share) {
    return x86::Mem(x86::rsp,
                    static_cast<std::int32_t>(SharedAddresses::kPlaces * kWordRowBytes +
                                              sizeof(std::uint32_t) * share.place),
                    sizeof(std::uint32_t));
  }
  [[nodiscard]] static x86::Mem shared_offsets(const Share& share) {
    return x86::Mem(x86::rsp, static_cast<std::int32_t>(share.place * kWordRowBytes), 0);
  }
  void find_offsets(const Site& site, const Share* share, asmjit::Label otherwise);
  void find_part(const Site& site, const Share* share, std::uint32_t byte);
};

}  // namespace warpcheck::vgpu::native
