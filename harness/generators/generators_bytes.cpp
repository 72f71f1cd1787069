#include "harness/generators/generators_bytes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "harness/generators/generators_integers.hpp"
#include "harness/generators/generators_vectors.hpp"

namespace warpcheck {

namespace {

using Byte = std::uint8_t;
using Bytes = std::vector<Byte>;

Bytes uniform(Draw& draw, std::size_t n) {
  Bytes bytes(n);
  for (Byte& byte : bytes) byte = static_cast<Byte>(draw.below(256));
  return bytes;
}

// Words of lower-case letters, with separators that scanners recognise.
Bytes text(Draw& draw, std::size_t n) {
  constexpr std::string_view kAlphabet = "etaoinshrdlucmfwypvbgkjqxz  ,.\n0";
  Bytes bytes(n);
  for (Byte& byte : bytes) byte = static_cast<Byte>(kAlphabet[draw.below(kAlphabet.size())]);
  return bytes;
}

// Cyclic: over 256 bytes all values are equally frequent.
Bytes counting(Draw& draw, std::size_t n) {
  auto next = static_cast<Byte>(draw.below(256));
  Bytes bytes(n);
  for (Byte& byte : bytes) byte = next++;
  return bytes;
}

Bytes sample(Draw& draw, std::size_t n) {
  switch (draw.below(6)) {
    case 0: return vectors_detail::sample(draw, n, integers<Byte>());
    case 1:
    case 2: return uniform(draw, n);
    case 3: return text(draw, n);
    case 4: return counting(draw, n);
    default: {
      const Gen<Byte> any = [](Draw& d) { return static_cast<Byte>(d.below(256)); };
      return vectors_detail::sample(draw, n, any);
    }
  }
}

bool is_text(const Bytes& bytes) {
  return std::ranges::all_of(
      bytes, [](Byte byte) { return (byte >= 0x20 && byte < 0x7f) || byte == '\n'; });
}

bool is_counting(const Bytes& bytes) {
  return std::ranges::adjacent_find(
             bytes, [](Byte a, Byte b) { return b != static_cast<Byte>(a + 1); }) == bytes.end();
}

std::ptrdiff_t distinct(const Bytes& bytes) {
  std::array<bool, 256> seen{};
  for (const Byte byte : bytes) seen[byte] = true;
  return std::ranges::count(seen, true);
}

}  // namespace

Gen<Bytes> byte_streams(std::int64_t n) {
  if (n < 0) throw std::invalid_argument("byte_streams: expected a length of at least 0");
  const auto length = static_cast<std::size_t>(n);
  Gen<Bytes> gen = [length](Draw& draw) { return sample(draw, length); };
  gen = gen.within([length](const Bytes& bytes) { return bytes.size() == length; });
  if (n < vectors_detail::kLengthWithClasses) return gen;
  std::vector<ValueClass<Bytes>> classes = vectors_detail::classes<Byte>();
  classes.push_back({"text", is_text});
  classes.push_back({"counting", is_counting});
  if (n >= 64) {
    classes.push_back({"many values", [](const Bytes& bytes) { return distinct(bytes) > 40; }});
  }
  if (n >= 256) {
    classes.push_back({"all values", [](const Bytes& bytes) { return distinct(bytes) == 256; }});
  }
  return gen.with_classes(std::move(classes));
}

}  // namespace warpcheck
