#include "vgpu/cudart/code/module_image.hpp"

#include <cstdint>
#include <cstring>

#include "vgpu/cudart/code/fatbinary_image.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/fatbinary.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::uint32_t kFatbinaryMagic = 0xba55ed50, kWrapperMagic = 0x466243b1;
constexpr std::string_view kElfMagic =
    "\x7f"
    "ELF";
constexpr const char* kIsMachineCode =
    "the module is machine code (a cubin), which the virtual GPU cannot run; load PTX: "
    "nvrtcGetPTX() with --gpu-architecture=compute_XX in place of nvrtcGetCUBIN(), `nvcc -ptx`, or "
    "a fatbinary that carries PTX";

std::uint64_t read_u64(const char*& at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

std::vector<std::string> texts_of_our_image(const char* image) {
  const char* at = image + kImageMagic.size();
  const char* const end = image + read_u64(at);
  const std::uint64_t count = read_u64(at);
  std::vector<std::string> texts;
  while (texts.size() < count && end - at >= 8) {
    const std::uint64_t bytes = read_u64(at);
    if (bytes > static_cast<std::uint64_t>(end - at)) break;
    texts.emplace_back(at, bytes);
    at += bytes;
  }
  if (texts.empty() || texts.size() != count) {
    throw ModuleImageError(cudaErrorInvalidKernelImage, "");
  }
  return texts;
}

// PTX begins with comments and its version directive (PTX ISA, 11.1).
bool looks_like_ptx(const char* text) {
  while (true) {
    text += std::strspn(text, " \t\r\n");
    if (std::strncmp(text, "//", 2) == 0) {
      text += std::strcspn(text, "\n");
    } else if (std::strncmp(text, "/*", 2) == 0) {
      const char* const end = std::strstr(text, "*/");
      if (end == nullptr) return false;
      text = end + 2;
    } else {
      return std::strncmp(text, ".version", 8) == 0;
    }
  }
}

}  // namespace

std::vector<std::string> ptx_of_module(const void* image, const CodeTarget& target) {
  const auto* const bytes = static_cast<const char*>(image);
  // The shortest kind is a text, which ends with a null byte.
  if (::strnlen(bytes, 4) == 4) {
    std::uint32_t magic = 0;
    std::memcpy(&magic, bytes, sizeof magic);
    try {
      if (magic == kFatbinaryMagic) return {ptx_in_image(image, target)};
      if (magic == kWrapperMagic) return ptx_in_fatbinary(image, target, "a loaded module");
    } catch (const ptx::FatbinaryError&) {
      throw ModuleImageError(cudaErrorNoKernelImageForDevice, kIsMachineCode);
    } catch (const vgpu::WrongTarget&) {
      throw;
    } catch (const vgpu::Refusal& refusal) {
      throw ModuleImageError(cudaErrorNoKernelImageForDevice, refusal.what());
    }
    if (std::strncmp(bytes, kElfMagic.data(), kElfMagic.size()) == 0) {
      throw ModuleImageError(cudaErrorNoKernelImageForDevice, kIsMachineCode);
    }
    if (std::strncmp(bytes, kImageMagic.data(), kImageMagic.size()) == 0) {
      return texts_of_our_image(bytes);
    }
    if (looks_like_ptx(bytes)) return {bytes};
  }
  throw ModuleImageError(cudaErrorInvalidKernelImage, "");
}

}  // namespace warpcheck::cudart
