#include "vgpu/cudart/fatbinary_image.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/cudart/virtual_gpu.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/fatbinary.hpp"

namespace warpcheck::cudart {
namespace {

// What nvcc puts into .nvFatBinSegment.
struct Wrapper {
  static constexpr std::uint32_t kMagic = 0x466243b1;
  static constexpr std::uint32_t kRelocatable = 2;  // version: `data` has yet to be linked
  std::uint32_t magic;
  std::uint32_t version;
  const std::byte* data;
  const void* extra;
};

// What a device of this capability would compile: the newest PTX not above it; else the oldest.
const ptx::PtxImage& choose(const std::vector<ptx::PtxImage>& images) {
  constexpr unsigned kOwn = virtual_gpu::kMajor * 10 + virtual_gpu::kMinor;
  const ptx::PtxImage* best = &images.front();
  for (const ptx::PtxImage& image : images) {
    const bool fits = image.sm <= kOwn, best_fits = best->sm <= kOwn;
    if (fits ? !best_fits || image.sm > best->sm : !best_fits && image.sm < best->sm) {
      best = &image;
    }
  }
  return *best;
}

}  // namespace

namespace {

std::string ptx_at(const std::byte* data) {
  const std::size_t bytes = ptx::fatbinary_bytes(
      std::span<const std::byte, ptx::kFatbinaryHeaderBytes>(data, ptx::kFatbinaryHeaderBytes));
  return choose(ptx::read_fatbinary({data, bytes})).text;
}

}  // namespace

bool is_relocatable(const void* wrapper) {
  const auto& header = *static_cast<const Wrapper*>(wrapper);
  return header.magic == Wrapper::kMagic && header.version == Wrapper::kRelocatable;
}

std::vector<std::string> ptx_in_fatbinary(const void* wrapper, std::string_view user) {
  const auto& header = *static_cast<const Wrapper*>(wrapper);
  if (header.magic != Wrapper::kMagic) {
    throw vgpu::Refusal(fmt::format("{}: damaged fatbinary: expected magic {:#x}, found {:#x}",
                                    user, Wrapper::kMagic, header.magic));
  }
  std::vector<std::string> texts;
  std::string why = "no part of the relocatable device code has PTX";
  const auto add = [&](const std::byte* data) {
    try {
      texts.push_back(ptx_at(data));
    } catch (const ptx::FatbinaryError& error) {
      why = error.what();
    }
  };
  if (is_relocatable(wrapper)) {
    const auto* part = static_cast<const std::byte* const*>(header.extra);
    for (; part != nullptr && *part != nullptr; ++part) add(*part);
  } else {
    add(header.data);
  }
  if (texts.empty()) throw vgpu::Refusal(fmt::format("{}: {}", user, why));
  return texts;
}

}  // namespace warpcheck::cudart
