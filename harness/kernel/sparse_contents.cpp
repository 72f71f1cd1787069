#include "harness/kernel/sparse_contents.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "harness/kernel/kernel_input.hpp"
#include "harness/pair/device.hpp"

namespace warpcheck {
namespace {

constexpr std::uint64_t kWindow = 2048;  // elements on each side
constexpr unsigned kLowestPower = 16, kHighestPower = 46;

// A number of the place that every type of elements holds; also of places 2^32 apart it differs.
std::int64_t number_at(std::uint64_t place, const ArrayParameter& array) {
  const ValueRange range = array.values.value_or(ValueRange{0, 120});
  const auto width = static_cast<std::uint64_t>(range.high - range.low) + 1;
  const auto mixed = static_cast<std::uint64_t>(
      (static_cast<unsigned __int128>(place) * 0x9e3779b97f4a7c15U) >> 40);
  return range.low + static_cast<std::int64_t>(width == 0 ? 0 : mixed % width);
}

void write_window(const ArrayParameter& array, std::uint64_t begin, std::uint64_t end,
                  std::byte* to) {
  std::vector<Column> columns;
  for (const ArrayParameter::Column& column : array.columns) {
    Column& values = columns.emplace_back(empty_column(column.element));
    const bool is_boolean = column.element == ElementType::boolean;
    std::visit(
        [&]<class T>(std::vector<T>& numbers) {
          for (std::uint64_t place = begin; place < end; ++place) {
            const std::int64_t number = number_at(place, array);
            numbers.push_back(static_cast<T>(is_boolean ? number % 2 : number));
          }
        },
        values);
  }
  const std::vector<std::byte> bytes = bytes_of(array, std::span<const Column>(columns));
  if (bytes.empty()) return;
  check(cudaMemcpy(to + begin * array.element_bytes, bytes.data(), bytes.size(),
                   cudaMemcpyHostToDevice));
}

}  // namespace

void fill_sparsely(const ArrayParameter& array, std::uint64_t length, std::byte* to) {
  std::set<std::uint64_t> places{0, length};
  for (unsigned power = kLowestPower; power <= kHighestPower; ++power) {
    places.insert((std::uint64_t{1} << power) / array.element_bytes);
  }
  std::uint64_t written = 0;  // up to there
  for (const std::uint64_t place : places) {
    if (place > length) break;
    const std::uint64_t begin = std::max(written, place < kWindow ? 0 : place - kWindow);
    const std::uint64_t end = std::min(length, place + kWindow);
    if (begin < end) write_window(array, begin, end, to);
    written = std::max(written, end);
  }
}

}  // namespace warpcheck
