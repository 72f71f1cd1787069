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

std::uint8_t tail_byte(std::uint8_t tail, std::size_t place) {
  if (tail == 0) return 0;
  vgpu::Prng prng((std::uint64_t{tail} << 32) | place / 8);
  return static_cast<std::uint8_t>(prng.next() >> (place % 8 * 8));
}

std::vector<std::uint8_t> tape_bytes(const InputLayout& input) {
  std::vector<std::uint8_t> bytes(input.data.begin(), input.data.end());
  if (input.tail == 0) return bytes;
  bytes.reserve(std::max(bytes.size(), kTailBytes));
  while (bytes.size() < kTailBytes) bytes.push_back(tail_byte(input.tail, bytes.size()));
  return bytes;
}

}  // namespace warpcheck::fuzz
