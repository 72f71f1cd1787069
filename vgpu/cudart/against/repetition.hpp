// Runs a captured launch again on the virtual device: with other PTX, or to see who wrote a byte.
// Memory is afterwards as it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/cudart/against/launch_image.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::cudart {

class Repetition {
 public:
  // launch: as it has run; its program lives longer than this object
  Repetition(vgpu::DeviceMemory& memory, const vgpu::Launch& launch, const LaunchImage& image,
             vgpu::WarpModel warp_model, const vgpu::Limits& limits)
      : memory_(memory), launch_(launch), image_(image), warp_model_(warp_model), limits_(limits) {}

  // Returns what the launch leaves with this PTX; nothing: the text is no program, the launch does
  // not end as it should, or it uses bad addresses or registers that it has not written.
  [[nodiscard]] std::optional<std::vector<MemoryImage>> run(const std::string& ptx) const;
  // Returns the last write of the byte; nothing: there is none.
  [[nodiscard]] std::optional<vgpu::AccessSide> writer_of(std::uint64_t address) const;

 private:
  vgpu::Outcome run(const vgpu::Program& program, vgpu::Observer& observer) const;

  vgpu::DeviceMemory& memory_;
  vgpu::Launch launch_;
  const LaunchImage& image_;
  vgpu::WarpModel warp_model_;
  vgpu::Limits limits_;
};

}  // namespace warpcheck::cudart
