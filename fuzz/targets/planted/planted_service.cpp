// The pair of planted_service.cu.  It has few sources, so that a test can build it from scratch, as
// a fuzzing service does.
#include <cstdint>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"

cudaError_t planted_service(const unsigned char* in, unsigned char* out, int n);

namespace warpcheck {

struct ServiceInput {
  std::vector<std::uint8_t> bytes;
};
FIELDS(ServiceInput, bytes);

// Each drawn byte is a byte of the tape, so that a fuzzer's byte is the kernel's.
KERNEL_PAIR(planted_service, ServiceInput, std::vector<std::uint8_t>) = {
    .family = "planted",
    .origin = "ours: writes past the end behind a magic byte",
    .expects = {"out-of-bounds"},
    .domain = [](const ServiceInput& in) { return in.bytes.size() <= 32; },
    .arbitrary =
        [](Draw& draw) {
          ServiceInput in;
          in.bytes.resize(static_cast<std::size_t>(draw.between(2, 8)));
          for (std::uint8_t& byte : in.bytes) byte = static_cast<std::uint8_t>(draw.below(256));
          return in;
        },
    .kernel =
        [](Device& device, const ServiceInput& in) {
          const auto bytes = device.upload(in.bytes);
          auto copy = device.array<std::uint8_t>(in.bytes.size());
          device.check(
              ::planted_service(bytes.data(), copy.data(), static_cast<int>(in.bytes.size())));
          return copy.download();
        },
    .reference = [](const ServiceInput& in) { return in.bytes; },
};

}  // namespace warpcheck
