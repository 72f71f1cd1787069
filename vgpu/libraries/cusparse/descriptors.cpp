#include "vgpu/libraries/cusparse/descriptors.hpp"

#include "vgpu/libraries/handles.hpp"

namespace warpcheck::libraries::sparse {
namespace {

Region unread_unless(bool reads, Region region) {
  if (!reads) region.width = region.height = region.depth = 0;
  return region;
}

Region index_array(const char* name, const void* pointer, cusparseIndexType_t type,
                   std::int64_t count) {
  Region region = array(name, pointer, index_bytes(type), count);
  region.addresses = true;
  return region;
}

}  // namespace

cusparseContext* find_handle(cusparseHandle_t handle) {
  return handles<cusparseContext>().find(handle);
}

const char* name_of(cusparseStatus_t status) {
  switch (static_cast<int>(status)) {
    case CUSPARSE_STATUS_SUCCESS: return "CUSPARSE_STATUS_SUCCESS";
    case CUSPARSE_STATUS_NOT_INITIALIZED: return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case CUSPARSE_STATUS_ALLOC_FAILED: return "CUSPARSE_STATUS_ALLOC_FAILED";
    case CUSPARSE_STATUS_INVALID_VALUE: return "CUSPARSE_STATUS_INVALID_VALUE";
    case CUSPARSE_STATUS_ARCH_MISMATCH: return "CUSPARSE_STATUS_ARCH_MISMATCH";
    case CUSPARSE_STATUS_MAPPING_ERROR: return "CUSPARSE_STATUS_MAPPING_ERROR";
    case CUSPARSE_STATUS_EXECUTION_FAILED: return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case CUSPARSE_STATUS_INTERNAL_ERROR: return "CUSPARSE_STATUS_INTERNAL_ERROR";
    case CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED:
      return "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED";
    case CUSPARSE_STATUS_ZERO_PIVOT: return "CUSPARSE_STATUS_ZERO_PIVOT";
    case CUSPARSE_STATUS_NOT_SUPPORTED: return "CUSPARSE_STATUS_NOT_SUPPORTED";
    case CUSPARSE_STATUS_INSUFFICIENT_RESOURCES: return "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES";
    default: return "unknown status";
  }
}

cusparseStatus_t rejected(const Call& call) {
  try {
    throw;
  } catch (const Rejected& rejection) {
    report_failure(call, {}, name_of(rejection.status), rejection.why);
    return rejection.status;
  } catch (const Refused& refusal) {
    refuse(call.function, refusal.why);
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  }
}

void SparseCall::finish(Operation& operation) {
  if (operation.enqueue() == cudaSuccess) return;
  throw Rejected{CUSPARSE_STATUS_EXECUTION_FAILED, "its stream does not take it"};
}

Scalar::Scalar(const SparseCall& call, Operation& operation, const char* name, const void* pointer,
               cudaDataType type)
    : type_(type) {
  require(pointer != nullptr, "{} is a null pointer", name);
  Region region = array(name, pointer, element_bytes(type), 1);
  region.on_host = call.pointer_mode == CUSPARSE_POINTER_MODE_HOST;
  // A scalar in device memory cannot be read now; the operation reads it when it runs.
  is_known_ = region.on_host && services().memory_at(pointer) != LibraryMemory::device;
  if (is_known_) {
    value_ = number_at(type, static_cast<const std::byte*>(pointer), 0);
  } else {
    region_ = operation.read(std::move(region));
  }
}
Number Scalar::in(const Views& views) const {
  return is_known_ ? value_ : number_at(type_, views.data<std::byte>(region_), 0);
}

void use_buffer(Operation& operation, void* buffer) {
  Region region = array("externalBuffer", buffer, 1, kBufferBytes);
  region.leaves_undefined = true;
  operation.write(std::move(region));
}

Region offsets_of(const cusparseSpMatDescr& matrix) {
  switch (static_cast<int>(matrix.format)) {
    case CUSPARSE_FORMAT_CSR:
      return index_array("row offsets", matrix.offsets, matrix.offset_type, matrix.rows + 1);
    case CUSPARSE_FORMAT_CSC:
      return index_array("column offsets", matrix.offsets, matrix.offset_type, matrix.columns + 1);
    default: return index_array("row indices", matrix.offsets, matrix.offset_type, matrix.nonzeros);
  }
}
Region indices_of(const cusparseSpMatDescr& matrix) {
  return index_array(matrix.format == CUSPARSE_FORMAT_CSC ? "row indices" : "column indices",
                     matrix.indices, matrix.index_type, matrix.nonzeros);
}
Region values_of(const cusparseSpMatDescr& matrix) {
  return array("values", matrix.values, element_bytes(matrix.type), matrix.nonzeros);
}

SparseOperand::SparseOperand(Operation& operation, const cusparseSpMatDescr& matrix, Reads reads)
    : matrix_(matrix), reads_(reads) {
  offsets_ = operation.read(unread_unless(reads != Reads::nothing, offsets_of(matrix)));
  indices_ = operation.read(unread_unless(reads != Reads::nothing, indices_of(matrix)));
  values_ = operation.read(unread_unless(reads == Reads::entries, values_of(matrix)));
}

// Calls visit(number of the entry, row, column) for every entry.  Rows and columns are not checked
// against the size of the matrix.
template <typename Visit>
void SparseOperand::for_each(const Views& views, Visit&& visit) const {
  if (reads_ == Reads::nothing) return;
  const std::byte* const offsets = views.data<std::byte>(offsets_);
  const std::byte* const indices = views.data<std::byte>(indices_);
  const auto index = [&](std::int64_t at) {
    return index_at(matrix_.index_type, indices, at) - matrix_.base;
  };
  const auto offset = [&](std::int64_t at) {
    return index_at(matrix_.offset_type, offsets, at) - matrix_.base;
  };
  if (matrix_.format == CUSPARSE_FORMAT_COO) {
    for (std::int64_t at = 0; at < matrix_.nonzeros; ++at) visit(at, offset(at), index(at));
    return;
  }
  const bool by_rows = matrix_.format == CUSPARSE_FORMAT_CSR;
  const std::int64_t lines = by_rows ? matrix_.rows : matrix_.columns;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t first = std::max<std::int64_t>(offset(line), 0);
    const std::int64_t end = std::min(offset(line + 1), matrix_.nonzeros);
    for (std::int64_t at = first; at < end; ++at) {
      visit(at, by_rows ? line : index(at), by_rows ? index(at) : line);
    }
  }
}

std::vector<Entry> SparseOperand::entries(const Views& views) const {
  std::vector<Entry> all;
  for_each(views, [&](std::int64_t at, std::int64_t row, std::int64_t column) {
    if (row < 0 || row >= matrix_.rows || column < 0 || column >= matrix_.columns) return;
    const bool has_value = reads_ == Reads::entries;
    all.push_back(
        {row, column, has_value ? number_at(matrix_.type, views.data<std::byte>(values_), at) : 0});
  });
  return all;
}

void SparseOperand::find_strays(Operation& operation, const Follower& follower) const {
  operation.expands([*this, follower](const Views& views, Operation::More& more) {
    const std::int64_t size = follower.by_row ? matrix_.rows : matrix_.columns;
    bool is_told = false;
    for_each(views, [&](std::int64_t, std::int64_t row, std::int64_t column) {
      const std::int64_t index = follower.by_row ? row : column;
      if (is_told || (index >= 0 && index < size)) return;
      is_told = true;
      const auto* const at = static_cast<const std::byte*>(follower.values) +
                             index * std::int64_t{follower.step_bytes};
      more.read(array(fmt::format("{}[{}]", follower.name, index), at, follower.element_bytes, 1));
    });
  });
}

Region dense_vector(const char* name, const cusparseDnVecDescr& vector) {
  return array(name, vector.values, element_bytes(vector.type), vector.size);
}
Region dense_matrix(const char* name, const cusparseDnMatDescr& matrix) {
  if (matrix.batch != 1) throw Refused{"batches"};
  const bool by_rows = matrix.order == CUSPARSE_ORDER_ROW;
  return libraries::matrix(name, matrix.values, element_bytes(matrix.type),
                           by_rows ? matrix.columns : matrix.rows,
                           by_rows ? matrix.rows : matrix.columns, matrix.leading);
}

namespace {

void set_pointers(cusparseSpMatDescr_t matrix, cusparseFormat_t format, void* offsets,
                  void* indices, void* values) {
  require(described(matrix).format == format, "the matrix is in another format");
  matrix->offsets = offsets;
  matrix->indices = indices;
  matrix->values = values;
}

}  // namespace
}  // namespace warpcheck::libraries::sparse

using namespace warpcheck::libraries::sparse;  // NOLINT(google-build-using-namespace)

extern "C" {

// ---- handles ----

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  return answer(CALL(), [&] {
    // cusparseCreate() on a GPU creates the device's context, so this creates it too.
    warpcheck::libraries::services().memory_at(nullptr);
    give(handle, new cusparseContext);
    warpcheck::libraries::handles<cusparseContext>().add(*handle);
  });
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  return answer(CALL(), handle, [&](SparseCall&) {
    warpcheck::libraries::handles<cusparseContext>().remove(handle);
  });
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  return answer(CALL(), handle, [&](SparseCall&) { handle->stream = stream; });
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  return answer(CALL(), handle, [&](SparseCall&) { give(stream, handle->stream); });
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  return answer(CALL(), handle, [&](SparseCall&) { handle->pointer_mode = mode; });
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) {
  return answer(CALL(), handle, [&](SparseCall&) { give(mode, handle->pointer_mode); });
}
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
  return answer(CALL(), handle, [&](SparseCall&) { give(version, int{CUSPARSE_VERSION}); });
}
cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value) {
  return answer(CALL(), [&] {
    constexpr int kVersion[] = {CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH};
    require(type >= MAJOR_VERSION && type <= PATCH_LEVEL, "there is no property {}",
            static_cast<int>(type));
    give(value, int{kVersion[type]});
  });
}
const char* cusparseGetErrorName(cusparseStatus_t status) { return name_of(status); }
const char* cusparseGetErrorString(cusparseStatus_t status) { return name_of(status); }

// ---- vectors and dense matrices ----

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t size, void* values,
                                     cudaDataType type) {
  return answer(CALL(), [&] {
    require(size >= 0, "size is {}", size);
    give(vector, new cusparseDnVecDescr{size, values, type});
  });
}
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* vector, int64_t size,
                                          const void* values, cudaDataType type) {
  return cusparseCreateDnVec(const_cast<cusparseDnVecDescr_t*>(vector), size,
                             const_cast<void*>(values), type);
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) {
  delete vector;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t vector, int64_t* size, void** values,
                                  cudaDataType* type) {
  return answer(CALL(), [&] {
    give(size, described(vector).size);
    give(values, vector->values);
    give(type, vector->type);
  });
}
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void** values) {
  return answer(CALL(), [&] { give(values, described(vector).values); });
}
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) {
  return answer(CALL(), [&] { described(vector).values = values; });
}

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, int64_t rows, int64_t columns,
                                     int64_t leading, void* values, cudaDataType type,
                                     cusparseOrder_t order) {
  return answer(CALL(), [&] {
    require(rows >= 0 && columns >= 0, "the matrix is {} x {}", rows, columns);
    const int64_t least = order == CUSPARSE_ORDER_ROW ? columns : rows;
    require(leading >= least, "ld is {}, less than {}", leading, least);
    give(matrix, new cusparseDnMatDescr{rows, columns, leading, values, type, order});
  });
}
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* matrix, int64_t rows,
                                          int64_t columns, int64_t leading, const void* values,
                                          cudaDataType type, cusparseOrder_t order) {
  return cusparseCreateDnMat(const_cast<cusparseDnMatDescr_t*>(matrix), rows, columns, leading,
                             const_cast<void*>(values), type, order);
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
  delete matrix;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t matrix, void** values) {
  return answer(CALL(), [&] { give(values, described(matrix).values); });
}
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void* values) {
  return answer(CALL(), [&] { described(matrix).values = values; });
}

cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* vector, int64_t size, int64_t nonzeros,
                                     void* indices, void* values, cusparseIndexType_t index_type,
                                     cusparseIndexBase_t base, cudaDataType type) {
  return answer(CALL(), [&] {
    require(size >= nonzeros && nonzeros >= 0, "{} of {} elements", nonzeros, size);
    give(vector, new cusparseSpVecDescr{size, nonzeros, indices, values, index_type, base, type});
  });
}
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vector) {
  delete vector;
  return CUSPARSE_STATUS_SUCCESS;
}

// ---- sparse matrices ----

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns,
                                   int64_t nonzeros, void* offsets, void* indices, void* values,
                                   cusparseIndexType_t offset_type, cusparseIndexType_t index_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
  return answer(CALL(), [&] {
    require(rows >= 0 && columns >= 0 && nonzeros >= 0, "the matrix is {} x {} with {} entries",
            rows, columns, nonzeros);
    give(matrix, new cusparseSpMatDescr{CUSPARSE_FORMAT_CSR, rows, columns, nonzeros, offsets,
                                        indices, values, offset_type, index_type, base, type});
  });
}
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* matrix, int64_t rows,
                                        int64_t columns, int64_t nonzeros, const void* offsets,
                                        const void* indices, const void* values,
                                        cusparseIndexType_t offset_type,
                                        cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                        cudaDataType type) {
  return cusparseCreateCsr(const_cast<cusparseSpMatDescr_t*>(matrix), rows, columns, nonzeros,
                           const_cast<void*>(offsets), const_cast<void*>(indices),
                           const_cast<void*>(values), offset_type, index_type, base, type);
}
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns,
                                   int64_t nonzeros, void* offsets, void* indices, void* values,
                                   cusparseIndexType_t offset_type, cusparseIndexType_t index_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
  const cusparseStatus_t status =
      cusparseCreateCsr(matrix, rows, columns, nonzeros, offsets, indices, values, offset_type,
                        index_type, base, type);
  if (status == CUSPARSE_STATUS_SUCCESS) (*matrix)->format = CUSPARSE_FORMAT_CSC;
  return status;
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns,
                                   int64_t nonzeros, void* row_indices, void* indices, void* values,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType type) {
  const cusparseStatus_t status =
      cusparseCreateCsr(matrix, rows, columns, nonzeros, row_indices, indices, values, index_type,
                        index_type, base, type);
  if (status == CUSPARSE_STATUS_SUCCESS) (*matrix)->format = CUSPARSE_FORMAT_COO;
  return status;
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
  delete matrix;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows,
                                      int64_t* columns, int64_t* nonzeros) {
  return answer(CALL(), [&] {
    give(rows, described(matrix).rows);
    give(columns, matrix->columns);
    give(nonzeros, matrix->nonzeros);
  });
}
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t matrix, void** values) {
  return answer(CALL(), [&] { give(values, described(matrix).values); });
}
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values) {
  return answer(CALL(), [&] { described(matrix).values = values; });
}
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* columns,
                                        void* values) {
  return answer(CALL(),
                [&] { set_pointers(matrix, CUSPARSE_FORMAT_CSR, offsets, columns, values); });
}
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* rows,
                                        void* values) {
  return answer(CALL(), [&] { set_pointers(matrix, CUSPARSE_FORMAT_CSC, offsets, rows, values); });
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t matrix, void* rows, void* columns,
                                        void* values) {
  return answer(CALL(), [&] { set_pointers(matrix, CUSPARSE_FORMAT_COO, rows, columns, values); });
}
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix,
                                           cusparseSpMatAttribute_t attribute, void* data,
                                           size_t bytes) {
  return answer(CALL(), [&] {
    require(data != nullptr && bytes == sizeof(int), "the attribute has {} bytes", bytes);
    if (attribute == CUSPARSE_SPMAT_FILL_MODE) {
      described(matrix).fill = *static_cast<cusparseFillMode_t*>(data);
    } else {
      described(matrix).diagonal = *static_cast<cusparseDiagType_t*>(data);
    }
  });
}

}  // extern "C"
