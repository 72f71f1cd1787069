// The loops of race_cell_rows.hpp.  The file is compiled once per instruction set, so everything
// here is local to the file or always inlined.
#include <cstdint>
#include <cstring>

#include "vgpu/check/race/general/cells/race_cell_rows.hpp"
#include "vgpu/machine/simd_vector.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

constexpr unsigned kWidth = kVectorBytes / 8;  // of a vector, in words of 64 bits
constexpr unsigned kSegmentBits = kRecordSegmentBits;
constexpr std::uint64_t kSegment = (1u << kSegmentBits) - 1, kLowHalf = 0xffffffff;

using Words = std::uint64_t __attribute__((vector_size(8 * kWidth)));
using Mask = std::int64_t __attribute__((vector_size(8 * kWidth)));

[[gnu::always_inline]] inline bool all(const Mask& mask) {
#if defined(__AVX512F__)
  return _mm512_movepi64_mask((__m512i)mask) == 0xff;
#elif defined(__AVX2__)
  return _mm256_movemask_pd((__m256d)mask) == 0xf;
#else
  return (mask[0] & mask[1]) != 0;
#endif
}

[[gnu::always_inline]] inline bool is_known(std::uint64_t word, std::uint64_t lane,
                                            const KnownBefore& known) {
  const std::uint64_t segment = word & kSegment;
  const bool is_before = segment < known.first || segment == known.segments[0] ||
                         segment == known.segments[1] || segment == known.segments[2] ||
                         segment == known.segments[3] ||
                         (word & kLowHalf) == known.own + (lane << kSegmentBits);
  return word == 0 || (word >> 63 == 0 && is_before);
}

std::uint32_t find_other(const CellRow& row, const KnownBefore& known) {
  const std::uint32_t count = 2 * row.cells;
  const std::uint64_t first = known.first;
  const auto [one, two, three, four] = known.segments;
  Words cell;
  for (unsigned i = 0; i < kWidth; ++i) cell[i] = i / 2;
  std::uint32_t at = 0;
  for (; at + kWidth <= count; at += kWidth, cell += kWidth / 2) {
    Words word;
    std::memcpy(&word, row.words + at, sizeof word);
    const Words segment = word & kSegment;
    const Words own = known.own + ((cell >> row.cells_log2) << kSegmentBits);
    const Mask before = (segment < first) | (segment == one) | (segment == two) |
                        (segment == three) | (segment == four) | ((word & kLowHalf) == own);
    if (!all((before & ((Mask)word >= 0)) | (word == 0))) break;
  }
  for (; at < count; ++at) {
    if (!is_known(row.words[at], (at / 2) >> row.cells_log2, known)) return at;
  }
  return count;
}

void record_writes(const CellRow& row, std::uint64_t record) {
  for (std::uint32_t cell = 0; cell < row.cells; ++cell) {
    row.words[2 * cell] = record + (std::uint64_t{cell >> row.cells_log2} << kSegmentBits);
    row.words[2 * cell + 1] = 0;
  }
}

void record_reads(const CellRow& row, std::uint64_t record) {
  for (std::uint32_t cell = 0; cell < row.cells; ++cell) {
    row.words[2 * cell + 1] = record + (std::uint64_t{cell >> row.cells_log2} << kSegmentBits);
  }
}

}  // namespace

extern const CellRowFunctions
    kCellRowFunctions;  // NOLINT(readability-redundant-declaration): constants are of one file else
const CellRowFunctions kCellRowFunctions{find_other, record_writes, record_reads};

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
