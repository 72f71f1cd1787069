// Planted defects that show the value of feedback: neither is found by chance.
#include <cstdint>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/specimens/planted_magic.hpp"
#include "kernels/specimens/planted_order.hpp"

namespace warpcheck {

struct MagicInput {
  std::vector<std::uint8_t> bytes;
};
FIELDS(MagicInput, bytes);

// Each drawn byte is a byte of the tape, so that a fuzzer's byte is the kernel's.
KERNEL_PAIR(planted_magic, MagicInput, std::vector<std::uint8_t>) = {
    .family = "planted",
    .origin = "ours: writes past the end behind a 4-byte magic value",
    .expects = {"out-of-bounds"},
    .domain = [](const MagicInput& in) { return in.bytes.size() >= 4 && in.bytes.size() <= 8; },
    .arbitrary =
        [](Draw& draw) {
          MagicInput in;
          in.bytes.resize(static_cast<std::size_t>(draw.between(4, 8)));
          for (std::uint8_t& byte : in.bytes) byte = static_cast<std::uint8_t>(draw.below(256));
          return in;
        },
    .kernel =
        [](Device& device, const MagicInput& in) {
          const auto bytes = device.upload(in.bytes);
          auto copy = device.array<std::uint8_t>(in.bytes.size());
          device.check(planted_magic(bytes.data(), copy.data(), static_cast<int>(in.bytes.size()),
                                     dim3(1), dim3(8)));
          return copy.download();
        },
    .reference = [](const MagicInput& in) { return in.bytes; },
};

struct OrderInput {
  int value = 0;
};
FIELDS(OrderInput, value);

KERNEL_PAIR(planted_order, OrderInput, std::vector<int>) = {
    .family = "planted",
    .origin = "ours: writes past the end behind an order of three events",
    .expects = {"out-of-bounds"},
    .arbitrary = [](Draw& draw) { return OrderInput{draw(integers<int>())}; },
    .kernel =
        [](Device& device, const OrderInput& in) {
          auto out = device.array<int>(1);
          device.check(planted_order(in.value, out.data()));
          return out.download();
        },
    .reference = [](const OrderInput& in) { return std::vector<int>{in.value}; },
};

}  // namespace warpcheck
