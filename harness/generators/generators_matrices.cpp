#include "harness/generators/generators_matrices.hpp"

#include <array>

namespace warpcheck {

Gen<int> matrix_sizes(MatrixSizeOptions options) {
  if (options.max < 0 || options.tile < 1) {
    throw std::invalid_argument("matrix_sizes: expected max of at least 0 and tile of at least 1");
  }
  const auto [max, tile] = options;
  const Gen<int> gen = [max = max, tile = tile](Draw& draw) {
    const int limit = max * draw.size() / kSizeMax;
    int size = 0;
    switch (draw.below(6)) {
      case 0: size = static_cast<int>(draw.below(4)); break;
      case 1: size = std::array{31, 33, 32}[draw.below(3)]; break;
      case 2: {
        const auto tiles = 1 + static_cast<int>(draw.below(static_cast<unsigned>(max / tile) + 1));
        size = tiles * tile + static_cast<int>(draw.below(3)) - 1;
        break;
      }
      case 3: size = limit - static_cast<int>(draw.below(2)); break;
      default: size = static_cast<int>(draw.below(static_cast<unsigned>(limit) + 1));
    }
    return std::clamp(size, 0, limit);
  };
  std::vector<ValueClass<int>> classes;
  const auto add = [&, max = max](int witness, std::string name, auto contains) {
    if (witness <= max) classes.push_back({std::move(name), contains});
  };
  add(0, "zero", [](int n) { return n == 0; });
  add(1, "one", [](int n) { return n == 1; });
  add(31, "31", [](int n) { return n == 31; });
  add(33, "33", [](int n) { return n == 33; });
  add(3, "odd", [](int n) { return n % 2 == 1; });
  add(tile + 1, "tile edge",
      [tile = tile](int n) { return n > 1 && (n % tile == 1 || n % tile == tile - 1); });
  add(tile, "multiple of the tile", [tile = tile](int n) { return n > 0 && n % tile == 0; });
  add(max, "largest", [max = max](int n) { return n == max; });
  return gen.within([max = max](int n) { return 0 <= n && n <= max; }).with_classes(classes);
}

}  // namespace warpcheck
