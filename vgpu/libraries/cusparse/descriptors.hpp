// Sparse and dense matrices and vectors: their descriptors, and their use as operands.
#pragma once

#include <vector>

#include "vgpu/libraries/cusparse/call.hpp"

struct cusparseDnVecDescr {
  std::int64_t size = 0;
  void* values = nullptr;
  cudaDataType type = CUDA_R_32F;
};
struct cusparseDnMatDescr {
  std::int64_t rows = 0, columns = 0, leading = 0;
  void* values = nullptr;
  cudaDataType type = CUDA_R_32F;
  cusparseOrder_t order = CUSPARSE_ORDER_COL;
  int batch = 1;
  std::int64_t stride = 0;
};
struct cusparseSpVecDescr {
  std::int64_t size = 0, nonzeros = 0;
  void *indices = nullptr, *values = nullptr;
  cusparseIndexType_t index_type = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cudaDataType type = CUDA_R_32F;
};
// `offsets`: of the rows of a CSR matrix, of the columns of a CSC matrix; the rows of COO.
struct cusparseSpMatDescr {
  cusparseFormat_t format = CUSPARSE_FORMAT_CSR;
  std::int64_t rows = 0, columns = 0, nonzeros = 0;
  void *offsets = nullptr, *indices = nullptr, *values = nullptr;
  cusparseIndexType_t offset_type = CUSPARSE_INDEX_32I, index_type = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cudaDataType type = CUDA_R_32F;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
};

namespace warpcheck::libraries::sparse {

template <typename T>
T& described(T* descriptor) {
  require(descriptor != nullptr, "a descriptor is a null pointer");
  return *descriptor;
}

inline std::uint32_t index_bytes(cusparseIndexType_t type) {
  switch (static_cast<int>(type)) {
    case CUSPARSE_INDEX_32I: return 4;
    case CUSPARSE_INDEX_64I: return 8;
    default: throw Refused{fmt::format("indices of type {}", static_cast<int>(type))};
  }
}
inline std::int64_t index_at(cusparseIndexType_t type, const std::byte* from, std::int64_t at) {
  return type == CUSPARSE_INDEX_64I ? load_as<std::int64_t>(from + 8 * at)
                                    : load_as<std::int32_t>(from + 4 * at);
}
inline void put_index(cusparseIndexType_t type, std::byte* to, std::int64_t at,
                      std::int64_t value) {
  if (type == CUSPARSE_INDEX_64I) {
    std::memcpy(to + 8 * at, &value, sizeof value);
  } else {
    const auto narrow = static_cast<std::int32_t>(value);
    std::memcpy(to + 4 * at, &narrow, sizeof narrow);
  }
}

struct Entry {
  std::int64_t row = 0, column = 0;
  Number value;
};

enum class Reads { nothing, places, entries };

// A sparse matrix that is read.  Indices outside the matrix are skipped, and reported if the
// element that they lead to is outside memory.
class SparseOperand {
 public:
  SparseOperand(Operation& operation, const cusparseSpMatDescr& matrix,
                Reads reads = Reads::entries);
  [[nodiscard]] std::vector<Entry> entries(const Views& views) const;
  // Elements of a dense operand that indices outside the matrix lead to; by_row: elements of its
  // rows.
  struct Follower {
    const char* name = "";
    const void* values = nullptr;
    std::uint32_t step_bytes = 0, element_bytes = 0;
    bool by_row = false;
  };
  void find_strays(Operation& operation, const Follower& follower) const;

 private:
  template <typename Visit>
  void for_each(const Views& views, Visit&& visit) const;
  cusparseSpMatDescr matrix_;
  Reads reads_;
  std::size_t offsets_ = 0, indices_ = 0, values_ = 0;
};

// The regions of the parts of a sparse matrix.
Region offsets_of(const cusparseSpMatDescr& matrix);
Region indices_of(const cusparseSpMatDescr& matrix);
Region values_of(const cusparseSpMatDescr& matrix);

Region dense_vector(const char* name, const cusparseDnVecDescr& vector);
Region dense_matrix(const char* name, const cusparseDnMatDescr& matrix);
// Returns the index of element (i, j) in its view.
inline std::int64_t dense_index(const cusparseDnMatDescr& matrix, const LibraryView& view,
                                std::int64_t i, std::int64_t j) {
  const std::int64_t pitch = view.pitch / element_bytes(matrix.type);
  return matrix.order == CUSPARSE_ORDER_ROW ? i * pitch + j : i + j * pitch;
}

}  // namespace warpcheck::libraries::sparse
