#include "reference/sort.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace reference {
namespace {

constexpr std::uint32_t kSignBit = 0x80000000;

// Unsigned integers in the order of the keys.
std::uint32_t code_of(std::int32_t key) { return static_cast<std::uint32_t>(key) ^ kSignBit; }
std::uint32_t code_of(float key) {
  const auto bits = std::bit_cast<std::uint32_t>(key);
  return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
}

std::int32_t integer_of(std::uint32_t code) { return static_cast<std::int32_t>(code ^ kSignBit); }
float float_of(std::uint32_t code) {
  return std::bit_cast<float>((code & kSignBit) != 0 ? code ^ kSignBit : ~code);
}

// `code` is an element's place in the order.
template <class Element, class Code>
void sort_by_bits(std::vector<Element>& elements, Code code) {
  for (int bit = 0; bit < 32; ++bit) {
    std::stable_partition(elements.begin(), elements.end(),
                          [&](const Element& element) { return (code(element) >> bit & 1) == 0; });
  }
}

template <class Key, class Decode>
std::vector<Key> sort_encoded(const std::vector<Key>& keys, Decode decode) {
  std::vector<std::uint32_t> codes;
  codes.reserve(keys.size());
  for (const Key key : keys) codes.push_back(code_of(key));
  std::vector<Key> sorted;
  sorted.reserve(keys.size());
  for (const std::uint32_t code : radix_sort(std::move(codes))) sorted.push_back(decode(code));
  return sorted;
}

}  // namespace

std::vector<std::uint32_t> radix_sort(std::vector<std::uint32_t> keys) {
  sort_by_bits(keys, [](std::uint32_t key) { return key; });
  return keys;
}

std::vector<std::int32_t> radix_sort(const std::vector<std::int32_t>& keys) {
  return sort_encoded(keys, integer_of);
}

std::vector<float> radix_sort(const std::vector<float>& keys) {
  return sort_encoded(keys, float_of);
}

KeysAndValues radix_sort_by_key(const KeysAndValues& input) {
  std::vector<std::size_t> places(input.keys.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  sort_by_bits(places, [&](std::size_t place) { return input.keys[place]; });
  KeysAndValues sorted;
  for (const std::size_t place : places) {
    sorted.keys.push_back(input.keys[place]);
    sorted.values.push_back(input.values[place]);
  }
  return sorted;
}

std::vector<std::uint32_t> radix_sort_lists(std::vector<std::uint32_t> keys, std::size_t lists) {
  for (std::size_t list = 0; list < lists; ++list) {
    std::vector<std::uint32_t> elements;
    for (std::size_t i = list; i < keys.size(); i += lists) elements.push_back(keys[i]);
    elements = radix_sort(std::move(elements));
    for (std::size_t k = 0; k < elements.size(); ++k) keys[list + k * lists] = elements[k];
  }
  return keys;
}

}  // namespace reference
