// Selects elements in the rows of a box: triangles and bands, as parallelograms and trapezia that
// may be clipped.  Plain data, shared with the libraries of the virtual GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace warpcheck::cudart {

// Row r contains the elements from lead + r * shift on, and box width + r * growth of them, but
// none before 0 and none from `limit` on.
struct RowShape {
  std::int64_t lead = 0, shift = 0, growth = 0;
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();

  struct Span {
    std::int64_t begin = 0, end = 0;
    [[nodiscard]] std::int64_t size() const { return end - begin; }
  };
  [[nodiscard]] Span of_row(std::int64_t width, std::int64_t row) const {
    const std::int64_t begin = lead + row * shift;
    const std::int64_t end = std::min(limit, begin + width + row * growth);
    return {std::max<std::int64_t>(begin, 0), std::max<std::int64_t>({begin, end, 0})};
  }
  [[nodiscard]] bool is_cut() const { return limit != std::numeric_limits<std::int64_t>::max(); }
  // Returns the end of the row that ends last.
  [[nodiscard]] std::int64_t reach(std::int64_t width, std::int64_t rows) const {
    return std::max(of_row(width, 0).end, of_row(width, rows - 1).end);
  }
  [[nodiscard]] RowShape in_bytes(std::int64_t element) const {
    return {lead * element, shift * element, growth * element, is_cut() ? limit * element : limit};
  }
  friend bool operator==(const RowShape&, const RowShape&) = default;
};

}  // namespace warpcheck::cudart
