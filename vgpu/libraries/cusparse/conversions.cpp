// Conversions between sparse formats, and incomplete factorisations.
#include <algorithm>
#include <array>

#include "vgpu/libraries/cusparse/descriptors.hpp"

struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};
// The row of the first zero pivot, counted from the matrix's index base; -1 if no pivot is zero.
struct csrilu02Info {
  int zero_pivot = -1;
};

namespace warpcheck::libraries::sparse {
namespace {

// A descriptor for a CSR matrix with 32-bit indices that a function receives as plain arrays.
cusparseSpMatDescr csr(std::int64_t rows, std::int64_t columns, std::int64_t nonzeros,
                       const int* offsets, const int* indices, const void* values,
                       cusparseIndexBase_t base, cudaDataType type) {
  cusparseSpMatDescr matrix{CUSPARSE_FORMAT_CSR,
                            rows,
                            columns,
                            nonzeros,
                            const_cast<int*>(offsets),
                            const_cast<int*>(indices),
                            const_cast<void*>(values)};
  matrix.base = base;
  matrix.type = type;
  return matrix;
}

// Writes entries, which must be sorted in the order of the format, into the arrays of a sparse
// matrix.
struct SparseResult {
  cusparseSpMatDescr matrix;
  std::size_t offsets = 0, indices = 0, values = 0;
  bool has_values = true;

  static Region plain(Region region) {
    region.addresses = false;
    return region;
  }
  SparseResult(Operation& operation, const cusparseSpMatDescr& of, bool writes_values = true)
      : matrix(of), has_values(writes_values) {
    offsets = operation.write(plain(offsets_of(of)));
    indices = operation.write(plain(indices_of(of)));
    if (writes_values) values = operation.write(values_of(of));
  }
  void put(const Views& views, std::vector<Entry> entries) const {
    const bool by_columns = matrix.format == CUSPARSE_FORMAT_CSC;
    std::ranges::stable_sort(entries, [&](const Entry& a, const Entry& b) {
      return by_columns ? std::pair(a.column, a.row) < std::pair(b.column, b.row)
                        : std::pair(a.row, a.column) < std::pair(b.row, b.column);
    });
    const auto count = std::min(std::ssize(entries), matrix.nonzeros);
    for (std::int64_t at = 0; at < count; ++at) {
      const Entry& entry = entries[static_cast<std::size_t>(at)];
      put_index(matrix.index_type, views.data<std::byte>(indices), at,
                (by_columns ? entry.row : entry.column) + matrix.base);
      if (has_values) put_number(matrix.type, views.data<std::byte>(values), at, entry.value);
      if (matrix.format == CUSPARSE_FORMAT_COO) {
        put_index(matrix.offset_type, views.data<std::byte>(offsets), at, entry.row + matrix.base);
      }
    }
    if (matrix.format != CUSPARSE_FORMAT_COO) put_offsets(views, entries);
  }
  void put_offsets(const Views& views, const std::vector<Entry>& entries) const {
    const bool by_columns = matrix.format == CUSPARSE_FORMAT_CSC;
    const std::int64_t lines = by_columns ? matrix.columns : matrix.rows;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(lines) + 1);
    for (const Entry& entry : entries) {
      ++counts[static_cast<std::size_t>(by_columns ? entry.column : entry.row) + 1];
    }
    std::int64_t sum = 0;
    for (std::int64_t line = 0; line <= lines; ++line) {
      sum += counts[static_cast<std::size_t>(line)];
      put_index(matrix.offset_type, views.data<std::byte>(offsets), line, sum + matrix.base);
    }
  }
};

std::vector<Entry> entries_of(const cusparseDnMatDescr& dense, const LibraryView& view) {
  std::vector<Entry> all;
  for (std::int64_t i = 0; i < dense.rows; ++i) {
    for (std::int64_t j = 0; j < dense.columns; ++j) {
      const Number value = number_at(dense.type, view.data, dense_index(dense, view, i, j));
      if (value != Number{}) all.push_back({i, j, value});
    }
  }
  return all;
}

// Replaces A by L + U - I where A has entries, by ILU(0) as in Saad, Iterative Methods for Sparse
// Linear Systems, 10.3.  Returns the first row whose pivot is zero or missing; -1 if there is none.
std::int64_t factor(std::int64_t n, const std::vector<Entry>& entries,
                    std::vector<Number>& values) {
  std::vector<std::vector<std::size_t>> rows(static_cast<std::size_t>(n));
  for (std::size_t at = 0; at < entries.size(); ++at) {
    rows[static_cast<std::size_t>(entries[at].row)].push_back(at);
  }
  const auto find = [&](std::int64_t row, std::int64_t column) -> Number* {
    for (const std::size_t at : rows[static_cast<std::size_t>(row)]) {
      if (entries[at].column == column) return &values[at];
    }
    return nullptr;
  };
  std::int64_t failed = -1;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::size_t> row = rows[static_cast<std::size_t>(i)];
    std::ranges::sort(row, {}, [&](std::size_t at) { return entries[at].column; });
    for (const std::size_t at : row) {
      const std::int64_t k = entries[at].column;
      if (k >= i) break;
      const Number* const pivot = find(k, k);
      if (pivot == nullptr || *pivot == Number{}) continue;
      values[at] /= *pivot;
      for (const std::size_t other : row) {
        if (entries[other].column <= k) continue;
        const Number* const above = find(k, entries[other].column);
        if (above != nullptr) values[other] -= values[at] * *above;
      }
    }
    const Number* const pivot = find(i, i);
    if (failed < 0 && (pivot == nullptr || *pivot == Number{})) failed = i;
  }
  return failed;
}

template <typename T>
void ilu(SparseCall& call, int m, int nnz, cusparseMatDescr_t description, T* values,
         const int* offsets, const int* indices, csrilu02Info_t info, void* buffer) {
  require(m >= 0 && nnz >= 0, "m is {}, nnz {}", m, nnz);
  const cusparseSpMatDescr matrix =
      csr(m, m, nnz, offsets, indices, values, described(description).base, kTypeOf<T>);
  described(info);
  Operation operation(call);
  const SparseOperand from(operation, matrix);
  const std::size_t to = operation.update(values_of(matrix));
  Region pivot = array("info", &info->zero_pivot, sizeof(int), 1);
  pivot.on_host = true;
  const std::size_t pivots = operation.write(std::move(pivot));
  use_buffer(operation, buffer);
  operation.waits();
  operation.computes([=](const Views& views) {
    const std::vector<Entry> entries = from.entries(views);
    std::vector<Number> numbers;
    for (const Entry& entry : entries) numbers.push_back(entry.value);
    const std::int64_t failed = factor(m, entries, numbers);
    *views.data<int>(pivots) = failed < 0 ? -1 : static_cast<int>(failed) + matrix.base;
    for (std::size_t at = 0; at < numbers.size(); ++at) {
      put_number(matrix.type, views.data<std::byte>(to), static_cast<std::int64_t>(at),
                 numbers[at]);
    }
  });
  SparseCall::finish(operation);
}

}  // namespace
}  // namespace warpcheck::libraries::sparse

using namespace warpcheck::libraries::sparse;  // NOLINT(google-build-using-namespace)
using warpcheck::libraries::Operation;
using warpcheck::libraries::Views;

extern "C" {

// ---- descriptors of functions without generic ones ----

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* description) {
  return answer(CALL(), [&] { give(description, new cusparseMatDescr); });
}
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t description) {
  delete description;
  return CUSPARSE_STATUS_SUCCESS;
}
#define SETTING(name, field, Type)                                                 \
  cusparseStatus_t cusparseSet##name(cusparseMatDescr_t description, Type value) { \
    return answer(CALL(), [&] { described(description).field = value; });          \
  }                                                                                \
  Type cusparseGet##name(const cusparseMatDescr_t description) { return description->field; }
SETTING(MatType, type, cusparseMatrixType_t)
SETTING(MatFillMode, fill, cusparseFillMode_t)
SETTING(MatDiagType, diagonal, cusparseDiagType_t)
SETTING(MatIndexBase, base, cusparseIndexBase_t)

// ---- formats ----

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int, int, int, const void*,
                                               const int*, const int*, void*, int*, int*,
                                               cudaDataType, cusparseAction_t, cusparseIndexBase_t,
                                               cusparseCsr2CscAlg_t, size_t* bytes) {
  return answer(CALL(), handle, [&](SparseCall&) { give(bytes, kBufferBytes); });
}
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz,
                                    const void* values, const int* offsets, const int* indices,
                                    void* csc_values, int* csc_offsets, int* csc_indices,
                                    cudaDataType type, cusparseAction_t action,
                                    cusparseIndexBase_t base, cusparseCsr2CscAlg_t, void* buffer) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    require(m >= 0 && n >= 0 && nnz >= 0, "the matrix is {} x {} with {} entries", m, n, nnz);
    const bool takes_values = action == CUSPARSE_ACTION_NUMERIC;
    require(nnz == 0 || !takes_values || (values != nullptr && csc_values != nullptr),
            "the values of {} entries are a null pointer", nnz);
    cusparseSpMatDescr result = csr(m, n, nnz, csc_offsets, csc_indices, csc_values, base, type);
    result.format = CUSPARSE_FORMAT_CSC;
    Operation operation(call);
    const SparseOperand from(operation, csr(m, n, nnz, offsets, indices, values, base, type),
                             takes_values ? Reads::entries : Reads::places);
    const SparseResult to(operation, result, takes_values);
    use_buffer(operation, buffer);
    operation.computes([=](const Views& views) { to.put(views, from.entries(views)); });
    SparseCall::finish(operation);
  });
}

cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* rows, int nnz, int m,
                                  int* offsets, cusparseIndexBase_t base) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    require(m >= 0 && nnz >= 0, "m is {}, nnz {}", m, nnz);
    Operation operation(call);
    const std::size_t from =
        operation.read(warpcheck::libraries::array("cooRowInd", rows, sizeof(int), nnz));
    const std::size_t to =
        operation.write(warpcheck::libraries::array("csrRowPtr", offsets, sizeof(int), m + 1));
    operation.computes([=](const Views& views) {
      const int* const row = views.data<int>(from);
      int at = 0;
      for (int i = 0; i <= m; ++i) {
        while (at < nnz && row[at] - base < i) ++at;
        views.data<int>(to)[i] = at + base;
      }
    });
    SparseCall::finish(operation);
  });
}
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int nnz, int m,
                                  int* rows, cusparseIndexBase_t base) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    require(m >= 0 && nnz >= 0, "m is {}, nnz {}", m, nnz);
    Operation operation(call);
    const std::size_t from =
        operation.read(warpcheck::libraries::array("csrRowPtr", offsets, sizeof(int), m + 1));
    const std::size_t to =
        operation.write(warpcheck::libraries::array("cooRowInd", rows, sizeof(int), nnz));
    operation.computes([=](const Views& views) {
      const int* const offset = views.data<int>(from);
      for (int i = 0; i < m; ++i) {
        for (int at = std::max(offset[i] - base, 0); at < std::min(offset[i + 1] - base, nnz);
             ++at) {
          views.data<int>(to)[at] = i + base;
        }
      }
    });
    SparseCall::finish(operation);
  });
}

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstSpMatDescr_t, cusparseDnMatDescr_t,
                                                  cusparseSparseToDenseAlg_t, size_t* bytes) {
  return answer(CALL(), handle, [&](SparseCall&) { give(bytes, kBufferBytes); });
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                       cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t,
                                       void* buffer) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    require(described(a).rows == described(b).rows && a->columns == b->columns,
            "A is {} x {}, and B {} x {}", a->rows, a->columns, b->rows, b->columns);
    Operation operation(call);
    const SparseOperand from(operation, *a);
    const std::size_t to = operation.write(dense_matrix("B", *b));
    use_buffer(operation, buffer);
    operation.computes([=, dense = *b](const Views& views) {
      const auto& view = views[to];
      for (std::int64_t j = 0; j < dense.columns; ++j) {
        for (std::int64_t i = 0; i < dense.rows; ++i) {
          put_number(dense.type, view.data, dense_index(dense, view, i, j), 0);
        }
      }
      for (const Entry& entry : from.entries(views)) {
        put_number(dense.type, view.data, dense_index(dense, view, entry.row, entry.column),
                   entry.value);
      }
    });
    SparseCall::finish(operation);
  });
}

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,
                                                  cusparseDenseToSparseAlg_t, size_t* bytes) {
  return answer(CALL(), handle, [&](SparseCall&) { give(bytes, kBufferBytes); });
}
// Counts the entries, so that the program can allocate memory for them, and writes the offsets.
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
                                                cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
                                                cusparseDenseToSparseAlg_t, void* buffer) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    described(b).nonzeros = 0;
    Operation operation(call);
    const std::size_t from = operation.read(dense_matrix("A", described(a)));
    const SparseResult to(operation, *b, false);
    auto count =
        warpcheck::libraries::array("the number of entries", &b->nonzeros, sizeof(std::int64_t), 1);
    count.on_host = true;
    const std::size_t counts = operation.write(std::move(count));
    use_buffer(operation, buffer);
    operation.waits();
    operation.computes([=, dense = *a](const Views& views) {
      const std::vector<Entry> entries = entries_of(dense, views[from]);
      *views.data<std::int64_t>(counts) = std::ssize(entries);
      if (to.matrix.format != CUSPARSE_FORMAT_COO) to.put_offsets(views, entries);
    });
    SparseCall::finish(operation);
  });
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t,
                                               void* buffer) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    Operation operation(call);
    const std::size_t from = operation.read(dense_matrix("A", described(a)));
    const SparseResult to(operation, described(b));
    use_buffer(operation, buffer);
    operation.computes(
        [=, dense = *a](const Views& views) { to.put(views, entries_of(dense, views[from])); });
    SparseCall::finish(operation);
  });
}

// ---- incomplete LU without fill ----

cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t* info) {
  return answer(CALL(), [&] { give(info, new csrilu02Info); });
}
cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info) {
  delete info;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info,
                                             int* position) {
  int found = -1;
  const cusparseStatus_t status = answer(CALL(), handle, [&](SparseCall&) {
    found = described(info).zero_pivot;
    give(position, found);
  });
  return status == CUSPARSE_STATUS_SUCCESS && found >= 0 ? CUSPARSE_STATUS_ZERO_PIVOT : status;
}
#define ILU(p, T)                                                                               \
  cusparseStatus_t cusparse##p##csrilu02_bufferSize(cusparseHandle_t handle, int, int,          \
                                                    const cusparseMatDescr_t, T*, const int*,   \
                                                    const int*, csrilu02Info_t, int* bytes) {   \
    return answer(CALL(), handle,                                                               \
                  [&](SparseCall&) { give(bytes, static_cast<int>(kBufferBytes)); });           \
  }                                                                                             \
  cusparseStatus_t cusparse##p##csrilu02_analysis(                                              \
      cusparseHandle_t handle, int, int, const cusparseMatDescr_t, const T*, const int*,        \
      const int*, csrilu02Info_t, cusparseSolvePolicy_t, void*) {                               \
    return answer(CALL(), handle, [](SparseCall&) {});                                          \
  }                                                                                             \
  cusparseStatus_t cusparse##p##csrilu02(                                                       \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t description, T* values, \
      const int* offsets, const int* indices, csrilu02Info_t info, cusparseSolvePolicy_t,       \
      void* buffer) {                                                                           \
    return answer(CALL(), handle, [&](SparseCall& call) {                                       \
      ilu(call, m, nnz, description, values, offsets, indices, info, buffer);                   \
    });                                                                                         \
  }
ILU(S, float)
ILU(D, double)
ILU(C, cuComplex)
ILU(Z, cuDoubleComplex)

}  // extern "C"
