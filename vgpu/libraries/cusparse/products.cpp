// Products of sparse matrices and vectors with dense ones, and solutions of triangular systems.
#include <algorithm>

#include "vgpu/libraries/cusparse/descriptors.hpp"

namespace warpcheck::libraries::sparse {
namespace {

// The product alpha * op(A) * B + beta * C, where B and C are matrices, or vectors as matrices of
// one column.
struct Product {
  cusparseOperation_t of_a, of_b;
  const void *alpha, *beta;
  cudaDataType computes;
};

// A dense vector as a matrix of one column.
cusparseDnMatDescr as_matrix(const cusparseDnVecDescr& vector) {
  return {vector.size, 1, vector.size, vector.values, vector.type};
}

void require_shapes(const cusparseSpMatDescr& a, const cusparseDnMatDescr& b,
                    const cusparseDnMatDescr& c, const Product& product) {
  const bool a_turned = is_transposed(product.of_a), b_turned = is_transposed(product.of_b);
  const std::int64_t m = a_turned ? a.columns : a.rows, k = a_turned ? a.rows : a.columns;
  const std::int64_t inner = b_turned ? b.columns : b.rows, n = b_turned ? b.rows : b.columns;
  require(inner == k && c.rows == m && c.columns == n,
          "op(A) is {} x {}, the second operand {} x {} and the result {} x {}", m, k, inner, n,
          c.rows, c.columns);
}

void multiply(SparseCall& call, const Product& product, const cusparseSpMatDescr& a,
              const char* b_name, const cusparseDnMatDescr& b, const char* c_name,
              const cusparseDnMatDescr& c, void* buffer) {
  require_shapes(a, b, c, product);
  if (c.rows == 0 || c.columns == 0) return;
  Operation operation(call);
  const Scalar alpha(call, operation, "alpha", product.alpha, product.computes);
  const Scalar beta(call, operation, "beta", product.beta, product.computes);
  const SparseOperand from(operation, a, alpha.is_zero() ? Reads::nothing : Reads::entries);
  Region right = dense_matrix(b_name, b);
  if (alpha.is_zero()) right.width = right.height = right.depth = 0;
  const std::size_t bs = operation.read(std::move(right));
  Region result = dense_matrix(c_name, c);
  const std::size_t cs =
      beta.is_zero() ? operation.write(std::move(result)) : operation.update(std::move(result));
  use_buffer(operation, buffer);
  const bool a_turned = is_transposed(product.of_a), b_turned = is_transposed(product.of_b);
  const bool is_step = (b.order == CUSPARSE_ORDER_ROW) != b_turned;
  const auto bytes = element_bytes(b.type);
  from.find_strays(
      operation, {b_name, b.values, is_step ? static_cast<std::uint32_t>(b.leading) * bytes : bytes,
                  bytes, a_turned});
  operation.computes([=](const Views& views) {
    std::vector<Number> sums(static_cast<std::size_t>(c.rows * c.columns));
    const LibraryView &b_view = views[bs], &c_view = views[cs];
    for (const Entry& entry : from.entries(views)) {
      const std::int64_t i = a_turned ? entry.column : entry.row;
      const std::int64_t l = a_turned ? entry.row : entry.column;
      const Number value = applied(product.of_a, entry.value);
      for (std::int64_t j = 0; j < c.columns; ++j) {
        const std::int64_t at = dense_index(b, b_view, b_turned ? j : l, b_turned ? l : j);
        sums[static_cast<std::size_t>(i + j * c.rows)] +=
            value * applied(product.of_b, number_at(b.type, b_view.data, at));
      }
    }
    const Number by_alpha = alpha.in(views), by_beta = beta.in(views);
    for (std::int64_t j = 0; j < c.columns; ++j) {
      for (std::int64_t i = 0; i < c.rows; ++i) {
        const std::int64_t at = dense_index(c, c_view, i, j);
        Number sum = by_alpha * sums[static_cast<std::size_t>(i + j * c.rows)];
        if (by_beta != Number{}) sum += by_beta * number_at(c.type, c_view.data, at);
        put_number(c.type, c_view.data, at, sum);
      }
    }
  });
  SparseCall::finish(operation);
}

// ---- triangular systems ----

// Solves op(A) * Y = alpha * X column by column; entries outside of the triangle are ignored.
void solve(SparseCall& call, const Product& product, const cusparseSpMatDescr& a,
           const char* x_name, const cusparseDnMatDescr& x, const char* y_name,
           const cusparseDnMatDescr& y, void* buffer) {
  require(a.rows == a.columns, "A is {} x {}", a.rows, a.columns);
  const bool x_turned = is_transposed(product.of_b);
  require((x_turned ? x.columns : x.rows) == a.rows && y.rows == a.rows &&
              (x_turned ? x.rows : x.columns) == y.columns,
          "A is {} x {}, the right side {} x {} and the solution {} x {}", a.rows, a.columns,
          x.rows, x.columns, y.rows, y.columns);
  if (y.rows == 0 || y.columns == 0) return;
  Operation operation(call);
  const Scalar alpha(call, operation, "alpha", product.alpha, product.computes);
  const SparseOperand from(operation, a);
  const std::size_t xs = operation.read(dense_matrix(x_name, x));
  const std::size_t ys = operation.write(dense_matrix(y_name, y));
  use_buffer(operation, buffer);
  operation.computes([=](const Views& views) {
    const bool is_turned = is_transposed(product.of_a);
    const bool is_lower = (a.fill == CUSPARSE_FILL_MODE_LOWER) != is_turned;
    const bool is_unit = a.diagonal == CUSPARSE_DIAG_TYPE_UNIT;
    std::vector<std::vector<Entry>> rows(static_cast<std::size_t>(a.rows));
    for (Entry entry : from.entries(views)) {
      if (is_turned) std::swap(entry.row, entry.column);
      entry.value = applied(product.of_a, entry.value);
      const bool is_in = is_lower ? entry.column <= entry.row : entry.column >= entry.row;
      if (is_in) rows[static_cast<std::size_t>(entry.row)].push_back(entry);
    }
    const LibraryView &x_view = views[xs], &y_view = views[ys];
    std::vector<Number> column(rows.size());
    for (std::int64_t j = 0; j < y.columns; ++j) {
      for (std::int64_t step = 0; step < a.rows; ++step) {
        const std::int64_t i = is_lower ? step : a.rows - 1 - step;
        const std::int64_t at = dense_index(x, x_view, x_turned ? j : i, x_turned ? i : j);
        Number sum = alpha.in(views)*applied(product.of_b, number_at(x.type, x_view.data, at));
        Number diagonal = is_unit ? 1 : 0;
        for (const Entry& entry : rows[static_cast<std::size_t>(i)]) {
          if (entry.column != i) {
            sum -= entry.value * column[static_cast<std::size_t>(entry.column)];
          } else if (!is_unit) {
            diagonal += entry.value;
          }
        }
        column[static_cast<std::size_t>(i)] = sum / diagonal;
      }
      for (std::int64_t i = 0; i < a.rows; ++i) {
        put_number(y.type, y_view.data, dense_index(y, y_view, i, j),
                   column[static_cast<std::size_t>(i)]);
      }
    }
  });
  SparseCall::finish(operation);
}

// ---- sparse vectors ----

struct SparseVector {
  cusparseSpVecDescr vector;
  std::size_t indices, values;

  // Calls visit(number of the element, index) for every element whose index is inside the vector.
  template <typename Visit>
  void for_each(const Views& views, Visit&& visit) const {
    for (std::int64_t at = 0; at < vector.nonzeros; ++at) {
      const std::int64_t index =
          index_at(vector.index_type, views.data<std::byte>(indices), at) - vector.base;
      if (index >= 0 && index < vector.size) visit(at, index);
    }
  }
};
SparseVector sparse_vector(Operation& operation, const cusparseSpVecDescr& vector, bool writes) {
  Region indices =
      array("indices", vector.indices, index_bytes(vector.index_type), vector.nonzeros);
  indices.addresses = true;
  Region values = array("values", vector.values, element_bytes(vector.type), vector.nonzeros);
  SparseVector all{vector, operation.read(std::move(indices)), 0};
  all.values = writes ? operation.write(std::move(values)) : operation.read(std::move(values));
  return all;
}
void require_size(const cusparseSpVecDescr& sparse, const cusparseDnVecDescr& dense) {
  require(sparse.size == dense.size, "the vectors have {} and {} elements", sparse.size,
          dense.size);
}

}  // namespace
}  // namespace warpcheck::libraries::sparse

// The result of an analysis of a triangular system, for the solution.
struct cusparseSpSVDescr {
  void* buffer = nullptr;
};
struct cusparseSpSMDescr {
  void* buffer = nullptr;
};

using namespace warpcheck::libraries::sparse;  // NOLINT(google-build-using-namespace)
using warpcheck::libraries::Operation;
using warpcheck::libraries::Views;

extern "C" {

// ---- products ----

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                         const void*, cusparseDnVecDescr_t, cudaDataType,
                                         cusparseSpMVAlg_t, size_t* bytes) {
  return answer(CALL(), handle, [&](SparseCall&) { give(bytes, kBufferBytes); });
}
// Does nothing: preprocessing only makes products faster.
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                         const void*, cusparseDnVecDescr_t, cudaDataType,
                                         cusparseSpMVAlg_t, void*) {
  return answer(CALL(), handle, [](SparseCall&) {});
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t operation,
                              const void* alpha, cusparseConstSpMatDescr_t matrix,
                              cusparseConstDnVecDescr_t x, const void* beta, cusparseDnVecDescr_t y,
                              cudaDataType computes, cusparseSpMVAlg_t, void* buffer) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    multiply(call, {operation, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, beta, computes},
             described(matrix), "x", as_matrix(described(x)), "y", as_matrix(described(y)), buffer);
  });
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t,
                                         cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                         const void*, cusparseDnMatDescr_t, cudaDataType,
                                         cusparseSpMMAlg_t, size_t* bytes) {
  return answer(CALL(), handle, [&](SparseCall&) { give(bytes, kBufferBytes); });
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t,
                                         cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                         const void*, cusparseDnMatDescr_t, cudaDataType,
                                         cusparseSpMMAlg_t, void*) {
  return answer(CALL(), handle, [](SparseCall&) {});
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t of_a,
                              cusparseOperation_t of_b, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType computes,
                              cusparseSpMMAlg_t, void* buffer) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    multiply(call, {of_a, of_b, alpha, beta, computes}, described(a), "B", described(b), "C",
             described(c), buffer);
  });
}

// ---- triangular systems ----

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* description) {
  return answer(CALL(), [&] { give(description, new cusparseSpSVDescr); });
}
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t description) {
  delete description;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                         cusparseSpSVDescr_t, size_t* bytes) {
  return answer(CALL(), handle, [&](SparseCall&) { give(bytes, kBufferBytes); });
}
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                       cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                       cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                       cusparseSpSVDescr_t description, void* buffer) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    described(description).buffer = buffer;
    Operation operation(call);
    use_buffer(operation, buffer);
    operation.computes([](const Views&) {});
    SparseCall::finish(operation);
  });
}
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t operation,
                                    const void* alpha, cusparseConstSpMatDescr_t matrix,
                                    cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType computes, cusparseSpSVAlg_t,
                                    cusparseSpSVDescr_t description) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    solve(call, {operation, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, nullptr, computes},
          described(matrix), "x", as_matrix(described(x)), "y", as_matrix(described(y)),
          described(description).buffer);
  });
}

cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* description) {
  return answer(CALL(), [&] { give(description, new cusparseSpSMDescr); });
}
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t description) {
  delete description;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t,
                                         cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                         cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t,
                                         cusparseSpSMDescr_t, size_t* bytes) {
  return answer(CALL(), handle, [&](SparseCall&) { give(bytes, kBufferBytes); });
}
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t,
                                       cusparseOperation_t, const void*, cusparseConstSpMatDescr_t,
                                       cusparseConstDnMatDescr_t, cusparseDnMatDescr_t,
                                       cudaDataType, cusparseSpSMAlg_t,
                                       cusparseSpSMDescr_t description, void* buffer) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    described(description).buffer = buffer;
    Operation operation(call);
    use_buffer(operation, buffer);
    operation.computes([](const Views&) {});
    SparseCall::finish(operation);
  });
}
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t of_a,
                                    cusparseOperation_t of_b, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType computes,
                                    cusparseSpSMAlg_t, cusparseSpSMDescr_t description) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    solve(call, {of_a, of_b, alpha, nullptr, computes}, described(a), "B", described(b), "C",
          described(c), described(description).buffer);
  });
}

// ---- sparse vectors ----

cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha,
                               cusparseConstSpVecDescr_t x, const void* beta,
                               cusparseDnVecDescr_t y) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    require_size(described(x), described(y));
    Operation operation(call);
    const Scalar by_alpha(call, operation, "alpha", alpha, y->type);
    const Scalar by_beta(call, operation, "beta", beta, y->type);
    const SparseVector from = sparse_vector(operation, *x, false);
    const std::size_t to = operation.update(dense_vector("y", *y));
    operation.computes([=, type = y->type, size = y->size](const Views& views) {
      auto* const dense = views.data<std::byte>(to);
      for (std::int64_t i = 0; i < size; ++i) {
        put_number(type, dense, i, by_beta.in(views)*number_at(type, dense, i));
      }
      from.for_each(views, [&](std::int64_t at, std::int64_t index) {
        const Number value = number_at(from.vector.type, views.data<std::byte>(from.values), at);
        put_number(type, dense, index, number_at(type, dense, index) + by_alpha.in(views)*value);
      });
    });
    SparseCall::finish(operation);
  });
}
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y,
                                cusparseSpVecDescr_t x) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    require_size(described(x), described(y));
    Operation operation(call);
    const SparseVector to = sparse_vector(operation, *x, true);
    const std::size_t from = operation.read(dense_vector("y", *y));
    operation.computes([=, type = y->type](const Views& views) {
      to.for_each(views, [&](std::int64_t at, std::int64_t index) {
        put_number(to.vector.type, views.data<std::byte>(to.values), at,
                   number_at(type, views.data<std::byte>(from), index));
      });
    });
    SparseCall::finish(operation);
  });
}
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x,
                                 cusparseDnVecDescr_t y) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    require_size(described(x), described(y));
    Operation operation(call);
    const SparseVector from = sparse_vector(operation, *x, false);
    const std::size_t to = operation.update(dense_vector("y", *y));
    operation.computes([=, type = y->type](const Views& views) {
      from.for_each(views, [&](std::int64_t at, std::int64_t index) {
        put_number(type, views.data<std::byte>(to), index,
                   number_at(from.vector.type, views.data<std::byte>(from.values), at));
      });
    });
    SparseCall::finish(operation);
  });
}
cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t,
                                         cusparseConstSpVecDescr_t, cusparseConstDnVecDescr_t,
                                         const void*, cudaDataType, size_t* bytes) {
  return answer(CALL(), handle, [&](SparseCall&) { give(bytes, kBufferBytes); });
}
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t of_x,
                              cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                              void* result, cudaDataType computes, void* buffer) {
  return answer(CALL(), handle, [&](SparseCall& call) {
    require_size(described(x), described(y));
    require(result != nullptr, "result is a null pointer");
    Operation operation(call);
    const SparseVector from = sparse_vector(operation, *x, false);
    const std::size_t dense = operation.read(dense_vector("y", *y));
    auto region = warpcheck::libraries::array("result", result, element_bytes(computes), 1);
    region.on_host = call.pointer_mode == CUSPARSE_POINTER_MODE_HOST;
    if (region.on_host) operation.waits();
    const std::size_t to = operation.write(std::move(region));
    use_buffer(operation, buffer);
    operation.computes([=, type = y->type](const Views& views) {
      Number sum;
      from.for_each(views, [&](std::int64_t at, std::int64_t index) {
        const Number value = number_at(from.vector.type, views.data<std::byte>(from.values), at);
        sum += applied(of_x, value) * number_at(type, views.data<std::byte>(dense), index);
      });
      put_number(computes, views.data<std::byte>(to), 0, sum);
    });
    SparseCall::finish(operation);
  });
}

}  // extern "C"
