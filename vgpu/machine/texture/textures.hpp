// Executes texture and surface instructions, and reports their misuse (PTX ISA 9.0, 9.7.10, 9.7.11;
// CUDA C++ Programming Guide, "Texture and Surface Memory").
//
// Every texel with a weight is a weak read of its array's memory, and is reported as one.  Texels
// without a weight are not read, as on hardware.  If lanes use different objects, the objects are
// handled one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/texture/texture.hpp"

namespace warpcheck::vgpu {

struct Footprint;

class Textures {
 public:
  Textures(RunningLaunch& launch, const Targets& targets, CurrentAccess& current,
           Accesses& accesses);
  ~Textures();
  Textures(const Textures&) = delete;
  Textures& operator=(const Textures&) = delete;

  Step execute(RunningFragment& run, const Instr& instr, std::uint32_t lanes);

 private:
  struct Fetch;

  void destroyed_object(const RunningFragment& run, const TextureInstr& texture,
                        unsigned lane) const;
  void announce(RunningFragment& run, const TexelFormat& format, Allocation& memory,
                const Instr& load, std::uint32_t group);
  void fault(const RunningFragment& run, const Instr& load, const TexelBox& box,
             std::uint64_t offset, unsigned lane) const;
  void fetch_one_texel(RunningFragment& run, const TextureInstr& instr, const Texture& texture,
                       std::uint32_t lanes);
  void write_values(RunningFragment& run, const TextureInstr& instr, const Texture& texture,
                    const std::array<const std::byte*, kWarpLanes>& texels, std::uint32_t lanes,
                    std::uint32_t outside);
  void fetch_texels(RunningFragment& run, const TextureInstr& instr, const Texture& texture,
                    std::uint32_t lanes);
  void read_texels(RunningFragment& run, const Texture& texture, std::uint32_t use,
                   std::uint32_t lanes);
  Step access_surface(RunningFragment& run, const TextureInstr& instr, const Surface& surface,
                      std::uint32_t lanes);
  void move_elements(RunningFragment& run, const TextureInstr& instr, const Surface& surface,
                     const std::array<std::uint64_t, kWarpLanes>& offsets, std::uint32_t lanes);
  void zero_values(RunningFragment& run, const TextureInstr& instr, std::uint32_t lanes) const;

  RunningLaunch& launch_;
  const Targets& targets_;
  CurrentAccess& current_;
  Accesses& accesses_;
  std::unique_ptr<Fetch> fetch_;  // created on first use, and kept
};

}  // namespace warpcheck::vgpu
