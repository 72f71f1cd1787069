// cublasLtMatmul: D := epilogue(alpha * op(A) * op(B) + beta * C), with elements of many types, in
// columns or in rows.
//
// An epilogue is a sequence: the bias is added, then the activation is applied, which may store its
// input in an auxiliary matrix (ReLU stores only its signs, as bits).  A backward epilogue
// multiplies by the activation's derivative at the inputs that such a matrix holds.  Both may also
// sum up the rows of the result, of A, or the columns of B.  GELU is the approximation by the
// hyperbolic tangent.
#include <array>
#include <optional>

#include "vgpu/libraries/cublas/lt_descriptors.hpp"
#include "vgpu/libraries/fixed_math.hpp"

namespace warpcheck::libraries::cublas {
namespace {

enum class Part : std::uint32_t {
  relu = CUBLASLT_EPILOGUE_RELU,
  bias = CUBLASLT_EPILOGUE_BIAS,
  relu_gradient = 8,
  row_sums = 16,  // the bias's gradient
  gelu = CUBLASLT_EPILOGUE_GELU,
  gelu_gradient = 64,
  aux = 128,
  row_sums_of_a = CUBLASLT_EPILOGUE_BGRADA,
  column_sums_of_b = CUBLASLT_EPILOGUE_BGRADB,
};
constexpr std::array kEpilogues{
    CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_RELU_AUX,
    CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU,
    CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_BIAS,   CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
    CUBLASLT_EPILOGUE_BGRADB};

struct Product {
  CBLAS_TRANSPOSE transa, transb;
  std::int64_t m, n, k;
  Description how;
  Operand a, b, c, d;
  std::size_t bias = 0, aux = 0;
  std::optional<std::size_t> alphas{}, betas{};  // vectors of scalars
  std::size_t a_scale = 0, b_scale = 0, c_scale = 0, d_scale = 0, d_largest = 0;
  bool reads_inputs = true, reads_c = true;
  [[nodiscard]] bool has(Part part) const {
    return (how.epilogue & static_cast<std::uint32_t>(part)) != 0;
  }
  [[nodiscard]] bool is_backward() const {
    return has(Part::relu_gradient) || has(Part::gelu_gradient);
  }
  [[nodiscard]] bool sums_up() const {
    return has(Part::row_sums) || has(Part::row_sums_of_a) || has(Part::column_sums_of_b);
  }
  // Whether the auxiliary matrix holds the signs of ReLU's inputs, as bits.
  [[nodiscard]] bool has_bits() const {
    return has(Part::aux) && (has(Part::relu) || has(Part::relu_gradient));
  }
  [[nodiscard]] bool has_vectors() const {
    return how.pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
  }
  [[nodiscard]] cudaDataType aux_type() const {
    return has_bits() ? CUDA_R_8U : static_cast<cudaDataType>(how.aux_type);
  }
};

template <typename T>
std::vector<T> gather(const Operand& from, const LibraryView& view, std::int64_t slice) {
  std::vector<T> numbers;
  const auto rows = static_cast<std::int64_t>(from.layout.rows);
  const auto columns = static_cast<std::int64_t>(from.layout.columns);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      numbers.push_back(
          number_at<T>(from.type(), view.data + slice * view.slice, from.index(view, i, j)));
    }
  }
  return numbers;
}

template <typename T>
T one() {
  T value{};
  assign(value, decltype(value_of(value))(1));
  return value;
}

// tanh, computed by an exponential that gives the same result on all machines.
template <typename T>
T fixed_tanh(T x) {
  return 1 - 2 / (fixed_math::exp(2 * x) + 1);
}
constexpr double kGeluScale = 0.79788456080286535588;  // sqrt(2 / pi)
constexpr double kGeluCube = 0.044715;
inline double gelu(double x) {
  return 0.5 * x * (1 + fixed_tanh(kGeluScale * (x + kGeluCube * x * x * x)));
}
inline double gelu_derivative(double x) {
  const double tanh = fixed_tanh(kGeluScale * (x + kGeluCube * x * x * x));
  return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * kGeluScale * (1 + 3 * kGeluCube * x * x);
}

// The computation of one product of a batch.
template <typename T>
class One {
 public:
  One(const Product& all, const Views& views, std::int64_t slice)
      : all_(all), views_(views), slice_(slice) {}

  void compute(T alpha, T beta) {
    std::vector<T> sums(static_cast<std::size_t>(all_.m * all_.n));
    if (all_.reads_inputs && all_.k != 0) multiply(alpha, sums);
    const auto input_scale = static_cast<Real<T>>(scale(all_.how.a_scale, all_.a_scale) *
                                                  scale(all_.how.b_scale, all_.b_scale));
    const auto c_scale = static_cast<Real<T>>(scale(all_.how.c_scale, all_.c_scale));
    const auto output_scale = static_cast<Real<T>>(scale(all_.how.d_scale, all_.d_scale));
    const LibraryView &c = views_[all_.c.region], &d = views_[all_.d.region];
    std::vector<double> row_sums(static_cast<std::size_t>(all_.m));
    for (std::int64_t j = 0; j < all_.n; ++j) {
      for (std::int64_t i = 0; i < all_.m; ++i) {
        auto sum = value_of(sums[static_cast<std::size_t>(i + j * all_.m)]) * input_scale;
        sum *= value_of(of_row(all_.alphas, i));
        const auto factor = value_of(of_row(all_.betas, i)) * value_of(beta);
        if (all_.reads_c && factor != value_of(T{})) {
          sum += factor * c_scale *
                 value_of(
                     number_at<T>(all_.c.type(), c.data + slice_ * c.slice, all_.c.index(c, i, j)));
        }
        if (all_.has(Part::bias)) {
          const auto type = static_cast<cudaDataType>(all_.how.bias_type);
          sum += value_of(
              number_at<T>(type, views_[all_.bias].data, i + slice_ * all_.how.bias_stride));
        }
        if constexpr (!kIsComplex<T>) {
          sum = activated(sum, i, j);
          row_sums[static_cast<std::size_t>(i)] += sum;
          largest_ = std::max(largest_, std::abs(static_cast<float>(sum)));
        }
        T result;
        assign(result, sum * output_scale);
        put_number(all_.d.type(), d.data + slice_ * d.slice, all_.d.index(d, i, j), result);
      }
    }
    if (all_.has(Part::row_sums)) put_sums(row_sums);
    if (all_.has(Part::row_sums_of_a)) sum_up_input(all_.a, all_.transa, all_.m);
    if (all_.has(Part::column_sums_of_b)) sum_up_input(all_.b, flipped(all_.transb), all_.n);
  }
  [[nodiscard]] float largest() const { return largest_; }

 private:
  static CBLAS_TRANSPOSE flipped(CBLAS_TRANSPOSE operation) {
    return operation == CblasNoTrans ? CblasTrans : CblasNoTrans;
  }
  void multiply(T alpha, std::vector<T>& sums) const {
    const std::vector<T> left = gather<T>(all_.a, views_[all_.a.region], slice_);
    const std::vector<T> right = gather<T>(all_.b, views_[all_.b.region], slice_);
    const T zero{};
    Blas<T>::gemm(CblasColMajor, all_.transa, all_.transb, static_cast<int>(all_.m),
                  static_cast<int>(all_.n), static_cast<int>(all_.k), by(alpha), left.data(),
                  static_cast<int>(all_.a.layout.rows), right.data(),
                  static_cast<int>(all_.b.layout.rows), by(zero), sums.data(),
                  static_cast<int>(all_.m));
  }
  [[nodiscard]] float scale(const void* is_there, std::size_t region) const {
    return is_there == nullptr ? 1 : *views_.data<float>(region);
  }
  // Element i of a vector of scalars; 1 if there is no such vector.
  [[nodiscard]] T of_row(const std::optional<std::size_t>& region, std::int64_t i) const {
    if (!region) return one<T>();
    return number_at<T>(static_cast<cudaDataType>(all_.how.scalars), views_[*region].data,
                        i + slice_ * all_.how.alpha_stride);
  }

  // A NaN remains a NaN.
  [[nodiscard]] T activated(T sum, std::int64_t i, std::int64_t j) {
    if (all_.has(Part::relu)) {
      if (all_.has(Part::aux)) put_bit(i, j, sum > 0);
      return sum < 0 ? 0 : sum;
    }
    if (all_.has(Part::relu_gradient)) return bit(i, j) ? sum : 0;
    if (all_.has(Part::gelu)) {
      if (all_.has(Part::aux)) put_number(all_.aux_type(), aux_slice(), aux_index(i, j), sum);
      return static_cast<T>(gelu(sum));
    }
    if (all_.has(Part::gelu_gradient)) {
      const double input = real_at(all_.aux_type(), aux_slice(), aux_index(i, j));
      return static_cast<T>(sum * gelu_derivative(input));
    }
    return sum;
  }
  [[nodiscard]] std::byte* aux_slice() const {
    const LibraryView& view = views_[all_.aux];
    return view.data + slice_ * view.slice;
  }
  [[nodiscard]] std::int64_t aux_index(std::int64_t i, std::int64_t j) const {
    return i + j * stride_of(views_[all_.aux], all_.aux_type());
  }
  [[nodiscard]] std::byte& byte_of_bit(std::int64_t i, std::int64_t j) const {
    return aux_slice()[i / 8 + j * views_[all_.aux].pitch];
  }
  [[nodiscard]] bool bit(std::int64_t i, std::int64_t j) const {
    return ((byte_of_bit(i, j) >> (i % 8)) & std::byte{1}) != std::byte{};
  }
  void put_bit(std::int64_t i, std::int64_t j, bool is_set) const {
    std::byte& all = byte_of_bit(i, j);
    if (i % 8 == 0) all = std::byte{};
    if (is_set) all |= std::byte{1} << (i % 8);
  }

  void put_sums(const std::vector<double>& sums) const {
    const LibraryView& view = views_[all_.bias];
    for (std::size_t i = 0; i < sums.size(); ++i) {
      put_at(static_cast<cudaDataType>(all_.how.bias_type), view.data,
             static_cast<std::int64_t>(i) + slice_ * all_.how.bias_stride, sums[i]);
    }
  }
  // Sums up the elements of an input over k.
  void sum_up_input(const Operand& input, CBLAS_TRANSPOSE operation, std::int64_t count) const {
    if constexpr (!kIsComplex<T>) {
      const std::vector<T> numbers = gather<T>(input, views_[input.region], slice_);
      const auto rows = static_cast<std::int64_t>(input.layout.rows);
      std::vector<double> sums(static_cast<std::size_t>(count));
      for (std::int64_t at = 0; at < std::ssize(numbers); ++at) {
        const std::int64_t to = operation == CblasNoTrans ? at % rows : at / rows;
        sums[static_cast<std::size_t>(to)] += numbers[static_cast<std::size_t>(at)];
      }
      put_sums(sums);
    }
  }

  const Product& all_;
  const Views& views_;
  std::int64_t slice_;
  float largest_ = 0;
};

void require_supported(const Product& all) {
  const Description& how = all.how;
  const auto epilogue = static_cast<cublasLtEpilogue_t>(how.epilogue);
  if (std::find(kEpilogues.begin(), kEpilogues.end(), epilogue) == kEpilogues.end()) {
    throw Refused{fmt::format("epilogue {}", how.epilogue)};
  }
  if (how.pointer_mode > CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST) {
    throw Refused{fmt::format("pointer mode {}", how.pointer_mode)};
  }
  if (how.transc != CUBLAS_OP_N) throw Refused{"a transposed C"};
  if (how.fill != CUBLAS_FILL_MODE_FULL) throw Refused{fmt::format("fill mode {}", how.fill)};
  for (const std::int32_t mode :
       {how.a_scale_mode, how.b_scale_mode, how.c_scale_mode, how.d_scale_mode}) {
    if (mode != 0) throw Refused{fmt::format("scale mode {}", mode)};
  }
  if (how.aux_scale != nullptr || how.aux_largest != nullptr) {
    throw Refused{"a scale of the auxiliary matrix"};
  }
  if (is_complex(all.d.type()) && how.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    throw Refused{fmt::format("epilogue {} of complex matrices", how.epilogue)};
  }
  // Like an H200: it rejects sums of the columns of B if B is not transposed.
  if (all.has(Part::column_sums_of_b) && all.transb == CblasNoTrans) {
    throw Rejected{CUBLAS_STATUS_NOT_SUPPORTED,
                   "CUBLASLT_EPILOGUE_BGRADB is supported for a transposed B alone"};
  }
  if (all.has_vectors() && bytes_of(all.a.type()) > 1) {
    throw Rejected{CUBLAS_STATUS_NOT_SUPPORTED,
                   fmt::format("vectors of scalars are not supported for elements of type {}",
                               static_cast<int>(all.a.type()))};
  }
  if (!all.has(Part::aux)) return;
  const std::int64_t multiple = all.has_bits() ? 128 : 8;
  require(how.aux_leading >= all.m && how.aux_leading % multiple == 0,
          "the leading dimension of the auxiliary matrix is {}, no multiple of {} that is {} at "
          "least",
          how.aux_leading, multiple, all.m);
  if (bytes_of(all.aux_type()) == 0) {
    throw Refused{fmt::format("an auxiliary matrix of type {}", how.aux_type)};
  }
}

Product look_at(const Description& how, const Layout& a, const Layout& b, const Layout& c,
                const Layout& d) {
  Product all{operation_of("transa", static_cast<cublasOperation_t>(how.transa)),
              operation_of("transb", static_cast<cublasOperation_t>(how.transb)),
              static_cast<std::int64_t>(d.rows),
              static_cast<std::int64_t>(d.columns),
              0,
              how,
              {0, a},
              {0, b},
              {0, c},
              {0, d}};
  const bool a_plain = all.transa == CblasNoTrans, b_plain = all.transb == CblasNoTrans;
  const std::uint64_t m = a_plain ? a.rows : a.columns, k = a_plain ? a.columns : a.rows;
  const std::uint64_t inner = b_plain ? b.rows : b.columns, n = b_plain ? b.columns : b.rows;
  require(m == d.rows && n == d.columns && k == inner,
          "op(A) is {} x {}, op(B) {} x {}, and D {} x {}", m, k, inner, n, d.rows, d.columns);
  require(c.rows == d.rows && c.columns == d.columns, "C is {} x {}, and D {} x {}", c.rows,
          c.columns, d.rows, d.columns);
  require(a.batch == d.batch && b.batch == d.batch && c.batch == d.batch,
          "the batches of A, B, C and D are {}, {}, {} and {}", a.batch, b.batch, c.batch, d.batch);
  all.k = static_cast<std::int64_t>(k);
  if (all.how.bias_type < 0) all.how.bias_type = d.type;
  if (all.how.aux_type < 0) all.how.aux_type = d.type;
  require_supported(all);
  return all;
}

// ---- the regions of a product ----

std::size_t read_if(Operation& operation, bool reads, Region region) {
  if (!reads) region.height = region.depth = 0;
  return operation.read(std::move(region));
}

void add_vector(Product& all, Operation& operation, bool is_read) {
  const std::int64_t count = all.has(Part::column_sums_of_b) ? all.n : all.m;
  Region region = array(is_read ? "bias" : "the bias's gradient", all.how.bias,
                        bytes_of(static_cast<cudaDataType>(all.how.bias_type)), count);
  if (all.d.layout.batch != 1) {
    region = std::move(region).batch(all.d.layout.batch, all.how.bias_stride);
  }
  all.bias = is_read ? operation.read(std::move(region)) : operation.write(std::move(region));
}

void add_aux(Product& all, Operation& operation) {
  const std::int64_t per_element = all.has_bits() ? 8 : 1;  // the region counts bits in bytes
  Region region =
      matrix("the auxiliary matrix", all.how.aux, bytes_of(all.aux_type()),
             (all.m + per_element - 1) / per_element, all.n, all.how.aux_leading / per_element);
  if (all.d.layout.batch != 1) {
    region = std::move(region).batch(all.d.layout.batch, all.how.aux_stride / per_element);
  }
  all.aux =
      all.is_backward() ? operation.read(std::move(region)) : operation.write(std::move(region));
}

void add_scalar_vectors(Product& all, Operation& operation, const void* alpha, const void* beta) {
  const auto add = [&](const char* name, const void* pointer) {
    Region region =
        array(name, pointer, bytes_of(static_cast<cudaDataType>(all.how.scalars)), all.m);
    if (all.how.alpha_stride != 0) {
      region = std::move(region).batch(all.d.layout.batch, all.how.alpha_stride);
    }
    return operation.read(std::move(region));
  };
  all.alphas = add("alpha", alpha);
  if (all.how.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR) all.betas = add("beta", beta);
}

// The scalars that are known before the product is computed; 1 where vectors of scalars are used.
struct Scalars {
  std::optional<TypedScalar> alpha, beta;
};
Scalars add_scalars(BlasCall& call, Product& all, Operation& operation, const void* alpha,
                    const void* beta) {
  const auto type = static_cast<cudaDataType>(all.how.scalars);
  if (bytes_of(type) == 0) throw Refused{fmt::format("scalars of type {}", all.how.scalars)};
  Scalars scalars;
  const auto mode = all.how.pointer_mode;
  if (all.has_vectors()) {
    add_scalar_vectors(all, operation, alpha, beta);
    all.reads_c = mode != CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
    if (mode != CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST) return scalars;
    call.pointer_mode = CUBLAS_POINTER_MODE_HOST;
  } else {
    scalars.alpha.emplace(call, operation, "alpha", alpha, type);
    all.reads_inputs = !scalars.alpha->is_zero();
  }
  scalars.beta.emplace(call, operation, "beta", beta, type);
  all.reads_c = !scalars.beta->is_zero();
  return scalars;
}

template <typename T>
T scalar_in(const std::optional<TypedScalar>& scalar, const Views& views) {
  return scalar ? scalar->in<T>(views) : one<T>();
}

void enqueue(const Call& made, Product all, const void* alpha, const void* a, const void* b,
             const void* beta, const void* c, void* d) {
  BlasCall call{made, static_cast<cublasPointerMode_t>(all.how.pointer_mode)};
  Operation operation(call);
  const Scalars scalars = add_scalars(call, all, operation, alpha, beta);
  const bool reads = all.reads_inputs && all.k != 0;
  all.a.region =
      read_if(operation, reads || all.has(Part::row_sums_of_a), region_of("A", a, all.a.layout));
  all.b.region =
      read_if(operation, reads || all.has(Part::column_sums_of_b), region_of("B", b, all.b.layout));
  all.c.region = read_if(operation, all.reads_c, region_of("C", c, all.c.layout));
  if (all.has(Part::bias)) add_vector(all, operation, true);
  if (all.has(Part::aux)) add_aux(all, operation);
  const auto read_scale = [&](const char* name, const void* pointer) {
    return pointer == nullptr ? 0 : operation.read(array(name, pointer, sizeof(float), 1));
  };
  all.a_scale = read_scale("the scale of A", all.how.a_scale);
  all.b_scale = read_scale("the scale of B", all.how.b_scale);
  all.c_scale = read_scale("the scale of C", all.how.c_scale);
  all.d_scale = read_scale("the scale of D", all.how.d_scale);
  all.d.region = operation.write(region_of("D", d, all.d.layout));
  if (all.sums_up()) add_vector(all, operation, false);
  if (all.how.d_largest != nullptr) {
    all.d_largest =
        operation.write(array("the largest size in D", all.how.d_largest, sizeof(float), 1));
  }
  operation.computes([=](const Views& views) {
    const auto run = [&](auto type) {
      using T = decltype(type);
      float largest = 0;
      for (std::int64_t i = 0; i < all.d.layout.batch; ++i) {
        One<T> product(all, views, i);
        product.compute(scalar_in<T>(scalars.alpha, views), scalar_in<T>(scalars.beta, views));
        largest = std::max(largest, product.largest());
      }
      if (all.how.d_largest != nullptr) *views.data<float>(all.d_largest) = largest;
    };
    const bool complex = is_complex(all.d.type());
    const bool exact =
        all.how.compute == CUBLAS_COMPUTE_64F || all.how.compute == CUBLAS_COMPUTE_64F_PEDANTIC ||
        all.how.compute == CUBLAS_COMPUTE_32I || all.how.compute == CUBLAS_COMPUTE_32I_PEDANTIC;
    if (complex) return exact ? run(cuDoubleComplex{}) : run(cuComplex{});
    return exact ? run(double{}) : run(float{});
  });
  call.finish(operation);
}

}  // namespace

void require_product(const Description& how, const Layout& a, const Layout& b, const Layout& c,
                     const Layout& d) {
  look_at(how, a, b, c, d);
}

}  // namespace warpcheck::libraries::cublas

using namespace warpcheck::libraries::cublas;  // NOLINT(google-build-using-namespace)
using warpcheck::libraries::Call;

extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                         const void* alpha, const void* A, cublasLtMatrixLayout_t a,
                                         const void* B, cublasLtMatrixLayout_t b, const void* beta,
                                         const void* C, cublasLtMatrixLayout_t c, void* D,
                                         cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t*,
                                         void*, size_t, cudaStream_t stream) {
  return answer_lt(HERE("cublasLtMatmul"), [&](const Call& made) {
    require(handle != nullptr, "the handle is a null pointer");
    Call call = made;
    call.stream = stream;
    const Product all = look_at(description_of(description), layout_of(a), layout_of(b),
                                layout_of(c), layout_of(d));
    // As an H200 answers.
    require(all.how.bias == nullptr || !all.has(Part::aux) || all.has(Part::bias) || all.sums_up(),
            "epilogue {} has no bias, but a bias pointer is set", all.how.epilogue);
    if (all.m == 0 || all.n == 0) return;
    enqueue(call, all, alpha, A, B, beta, C, D);
  });
}
