// What a copy or a fill moves, and where it lies.
#pragma once

#include <cstddef>

namespace warpcheck::cudart {

// A box of rows of bytes, which a copy or a fill moves.
struct Box {
  std::size_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
  [[nodiscard]] std::size_t bytes() const { return width * height * depth; }
  friend bool operator==(const Box&, const Box&) = default;
};

// The place of a box in memory.
struct Place {
  void* pointer = nullptr;
  std::size_t pitch = 0, slice = 0;  // bytes between rows, and between slices; unused for one
};

}  // namespace warpcheck::cudart
