#include "fuzz/input_layout.hpp"

#include <algorithm>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::fuzz {

InputLayout split_input(std::span<const std::uint8_t> bytes) {
  const auto from_back = [&](std::size_t i) {
    return i < bytes.size() ? bytes[bytes.size() - 1 - i] : std::uint8_t{0};
  };
  InputLayout input;
  input.mode = from_back(0);
  input.tail = from_back(1);
  const std::size_t wanted = std::min<std::size_t>(from_back(2), kDecisionsMax);
  const auto rest = bytes.first(bytes.size() - std::min(bytes.size(), kTrailerBytes));
  const std::size_t count = std::min(wanted, rest.size() / kDecisionBytes);
  input.decisions = rest.last(count * kDecisionBytes);
  input.data = rest.first(rest.size() - input.decisions.size());
  return input;
}

std::vector<std::uint8_t> join_input(const InputLayout& input) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(input.data.size() + input.decisions.size() + kTrailerBytes);
  bytes.insert(bytes.end(), input.data.begin(), input.data.end());
  bytes.insert(bytes.end(), input.decisions.begin(), input.decisions.end());
  bytes.push_back(static_cast<std::uint8_t>(input.decision_count()));
  bytes.push_back(input.tail);
  bytes.push_back(input.mode);
  return bytes;
}

std::vector<std::uint8_t> tape_bytes(const InputLayout& input) {
  std::vector<std::uint8_t> bytes(input.data.begin(), input.data.end());
  if (input.tail == 0) return bytes;
  vgpu::Prng prng(input.tail);
  bytes.reserve(bytes.size() + kTailBytes);
  for (std::size_t i = 0; i < kTailBytes; i += 8) {
    for (std::uint64_t word = prng.next(), left = 8; left > 0; --left, word >>= 8) {
      bytes.push_back(static_cast<std::uint8_t>(word));
    }
  }
  return bytes;
}

}  // namespace warpcheck::fuzz
