// Fetches textures and accesses surfaces on a real GPU, and records the results:
//   texture_record DIR   writes DIR/textures.vectors
#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "vgpu/conformance/texture_forms.hpp"

namespace {

using namespace warpcheck::conformance;  // NOLINT(google-build-using-namespace)

std::string device_name() {
  cudaDeviceProp properties{};
  int driver = 0;
  cudaGetDeviceProperties(&properties, 0);
  cudaDriverGetVersion(&driver);
  return fmt::format("{}, sm_{}{}, driver for CUDA {}.{}", properties.name, properties.major,
                     properties.minor, driver / 1000, driver % 1000 / 10);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: texture_record DIR\n", stderr);
    return 2;
  }
  try {
    const std::vector<TextureResult> results = fetch_textures();
    Recording recording{device_name(), {}};
    for (const TextureResult& result : results) recording.forms.push_back(recorded_of(result));
    const std::string bytes = pack(recording, forms_of(results));
    write_file(std::filesystem::path(argv[1]) / kTextureVectors, bytes);
    std::printf("%zu kinds of accesses, %zu bytes, on %s\n", results.size(), bytes.size(),
                recording.device.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "texture_record: %s\n", error.what());
    return 1;
  }
}
