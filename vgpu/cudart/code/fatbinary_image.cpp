#include "vgpu/cudart/code/fatbinary_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/fatbinary.hpp"

namespace warpcheck::cudart {
namespace {

// The content of .nvFatBinSegment, as nvcc writes it.
struct Wrapper {
  static constexpr std::uint32_t kMagic = 0x466243b1;
  static constexpr std::uint32_t kRelocatable = 2;  // version: `data` must be linked
  std::uint32_t magic;
  std::uint32_t version;
  const std::byte* data;
  const void* extra;
};

std::span<const std::byte> image_at(const std::byte* data) {
  const std::size_t bytes = ptx::fatbinary_bytes(
      std::span<const std::byte, ptx::kFatbinaryHeaderBytes>(data, ptx::kFatbinaryHeaderBytes));
  return {data, bytes};
}

// Calls visit(data) for the image, or for the image of every part.
template <class Visit>
void for_each_image(const void* wrapper, Visit&& visit) {
  const auto& header = *static_cast<const Wrapper*>(wrapper);
  if (!is_relocatable(wrapper)) return visit(header.data);
  const auto* part = static_cast<const std::byte* const*>(header.extra);
  for (; part != nullptr && *part != nullptr; ++part) visit(*part);
}

// Returns whether a line of the text begins the definition, not only a declaration, of a function
// of this name.
bool defines_function(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t begin = text.rfind('\n', at) + 1;
    const std::string_view before = text.substr(begin, at - begin);
    const std::size_t end = at + name.size();
    const bool ends = end == text.size() || text[end] == '(' || text[end] == '\n';
    if (ends && before.find(".func ") != std::string_view::npos && !before.starts_with(".extern")) {
      return true;
    }
  }
  return false;
}

std::string name_of_target(const ptx::PtxImage& image) {
  const std::string features = image.features == '\0' ? "" : std::string(1, image.features);
  return fmt::format("sm_{}{}", image.sm, features);
}

// Returns the text for the device.  A named device gets no code that it would not run.
const ptx::PtxImage& chosen(const std::vector<ptx::PtxImage>& images, const CodeTarget& target) {
  const ptx::PtxImage& image = ptx::image_for(images, target.sm);
  if (!target.is_named || ptx::runs_on(image, target.sm)) return image;
  std::string targets;
  for (const ptx::PtxImage& one : images) {
    targets += (targets.empty() ? "" : ", ") + name_of_target(one);
  }
  throw vgpu::WrongTarget(
      fmt::format("the device is sm_{}, and its code is for {}", target.sm, targets));
}

// Recognises the device runtime by the functions through which device code launches (CUDA C++
// Programming Guide, "CUDA Dynamic Parallelism", "Device-side Launch from PTX").
bool is_device_runtime(const std::byte* data) {
  try {
    const std::string text = ptx::read_fatbinary(image_at(data)).front().text;
    return defines_function(text, "cudaGetParameterBufferV2") ||
           defines_function(text, "__cudaCDP2GetParameterBufferV2");
  } catch (const ptx::FatbinaryError&) {
    return false;
  }
}

}  // namespace

bool is_relocatable(const void* wrapper) {
  const auto& header = *static_cast<const Wrapper*>(wrapper);
  return header.magic == Wrapper::kMagic && header.version == Wrapper::kRelocatable;
}

std::vector<std::string> ptx_in_fatbinary(const void* wrapper, const CodeTarget& target,
                                          std::string_view user) {
  const auto& header = *static_cast<const Wrapper*>(wrapper);
  if (header.magic != Wrapper::kMagic) {
    throw vgpu::Refusal(fmt::format("{}: damaged fatbinary: expected magic {:#x}, found {:#x}",
                                    user, Wrapper::kMagic, header.magic));
  }
  std::vector<std::string> texts;
  std::string why = "no part of the relocatable device code has PTX";
  for_each_image(wrapper, [&](const std::byte* data) {
    try {
      // The toolkit's device runtime is for the newest device alone, and fits all.
      const bool is_free = !target.is_named || is_device_runtime(data);
      texts.push_back(chosen(ptx::read_fatbinary(image_at(data)), {target.sm, !is_free}).text);
    } catch (const ptx::FatbinaryError& error) {
      why = error.what();
    }
  });
  if (texts.empty()) throw vgpu::Refusal(fmt::format("{}: {}", user, why));
  return texts;
}

std::string ptx_in_image(const void* fatbinary, const CodeTarget& target) {
  const auto* const data = static_cast<const std::byte*>(fatbinary);
  return chosen(ptx::read_fatbinary(image_at(data)), target).text;
}

unsigned newest_target_in_fatbinary(const void* wrapper) {
  struct Part {
    const std::byte* data;
    unsigned newest;
  };
  std::vector<Part> parts;
  if (static_cast<const Wrapper*>(wrapper)->magic != Wrapper::kMagic) return 0;
  for_each_image(wrapper, [&](const std::byte* data) {
    try {
      parts.push_back({data, ptx::newest_ptx_target(image_at(data))});
    } catch (const ptx::FatbinaryError&) {  // reported when a part of it is used
    }
  });
  // Texts are examined only if that can matter.
  std::ranges::sort(parts, std::greater(), &Part::newest);
  while (parts.size() > 1 && parts.front().newest != parts.back().newest &&
         is_device_runtime(parts.front().data)) {
    parts.erase(parts.begin());
  }
  return parts.empty() ? 0 : parts.front().newest;
}

}  // namespace warpcheck::cudart
