// The common parts of all cases: elements as numbers, matrices on the device, recorded calls, and
// results that are compared with the expected ones and recorded.
//
// The same program runs on a GPU and on the virtual GPU: see cases.cpp.
#pragma once

#include <cublasLt.h>
// The two APIs of cuBLAS exclude each other: a file of cases is compiled for one of them.
#ifdef LEGACY
#include <cublas.h>
#else
#include <cublas_v2.h>
#endif
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "numbers.hpp"

// ---- elements ----

template <class T>
constexpr bool kIsComplex = std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>;
template <class T>
struct RealOf {
  using Type = T;
};
template <>
struct RealOf<cuComplex> {
  using Type = float;
};
template <>
struct RealOf<cuDoubleComplex> {
  using Type = double;
};
template <class T>
using Real = typename RealOf<T>::Type;

// The unit roundoff of type T.
template <class T>
constexpr double kRoundoff = 0x1p-24;
template <>
inline constexpr double kRoundoff<double> = 0x1p-53;
template <>
inline constexpr double kRoundoff<cuDoubleComplex> = 0x1p-53;
template <>
inline constexpr double kRoundoff<__half> = 0x1p-11;
template <>
inline constexpr double kRoundoff<__nv_bfloat16> = 0x1p-8;

template <class T>
T from(Number value) {
  if constexpr (kIsComplex<T>) {
    return {static_cast<Real<T>>(value.real()), static_cast<Real<T>>(value.imag())};
  } else if constexpr (std::is_same_v<T, __half>) {
    return __float2half(static_cast<float>(value.real()));
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16(static_cast<float>(value.real()));
  } else {
    return static_cast<T>(value.real());
  }
}
template <class T>
Number number(T value) {
  if constexpr (kIsComplex<T>) {
    return {value.x, value.y};
  } else if constexpr (std::is_same_v<T, __half>) {
    return __half2float(value);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __bfloat162float(value);
  } else {
    return static_cast<double>(value);
  }
}

// Returns the next number of a fixed sequence: multiples of 1/16 between -8 and 8, which every type
// can represent, and whole numbers for integer types.
double draw_real();
template <class T>
Number draw() {
  const double real = draw_real();
  return number(from<T>({real, kIsComplex<T> ? draw_real() : 0}));
}
template <class T>
Dense drawn(int rows, int columns = 1) {
  return matrix_of(rows, columns, [](int, int) { return draw<T>(); });
}
// A matrix that is well-conditioned for divisions.
template <class T>
Dense drawn_dominant(int n) {
  Dense all = drawn<T>(n, n);
  for (int i = 0; i < n; ++i) all(i, i) = all(i, i).value + Number(40);
  return all;
}
template <class T>
Number scalar() {
  return kIsComplex<T> ? Number(2, -0.5) : Number(2);
}

constexpr cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
constexpr cublasFillMode_t kTriangles[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};
constexpr cublasDiagType_t kDiagonals[] = {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT};
constexpr cublasSideMode_t kSides[] = {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT};

// ---- matrices on the device ----

// The position of element (i, j) of a matrix, in elements; -1: not stored.
using Layout = std::function<int(int, int)>;
inline Layout full(int leading) {
  return [=](int i, int j) { return i + j * leading; };
}
inline Layout by_rows(int leading) {
  return [=](int i, int j) { return i * leading + j; };
}
inline Layout triangle(cublasFillMode_t uplo, int leading) {
  return [=](int i, int j) { return is_in(uplo, i, j) ? i + j * leading : -1; };
}
inline Layout band(int below, int above, int leading) {
  return [=](int i, int j) {
    return i - j <= below && j - i <= above ? above + i - j + j * leading : -1;
  };
}
inline Layout packed(cublasFillMode_t uplo, int n) {
  return [=](int i, int j) {
    if (!is_in(uplo, i, j)) return -1;
    return uplo == CUBLAS_FILL_MODE_UPPER ? i + j * (j + 1) / 2 : i + j * (2 * n - j - 1) / 2;
  };
}
inline Layout spaced(int n, int increment) {
  return [=](int i, int) { return increment < 0 ? (i - n + 1) * increment : i * increment; };
}
// A batch whose matrices are adjacent, like columns.
inline Layout strided(int columns, int leading, int stride) {
  return [=](int i, int j) { return i + j % columns * leading + j / columns * stride; };
}
inline Dense slice_of(const Dense& batch, int columns, int which) {
  return matrix_of(batch.rows, columns,
                   [&](int i, int j) { return batch(i, j + which * columns); });
}

void check(cudaError_t error);
void* allocate(std::size_t bytes);
void free_at_end(void* pointer);

// Device memory for the elements in its layout; elements in between are never written.
template <class T>
class OnDevice {
 public:
  T* device = nullptr;

  //   room: a layout with more elements, which determines the size
  OnDevice(const Dense& values, const Layout& layout, bool is_fresh = false,
           const Layout& room = nullptr)
      : rows_(values.rows), columns_(values.columns) {
    int extent = 0;
    for (int j = 0; j < columns_; ++j) {
      for (int i = 0; i < rows_; ++i) {
        places_.push_back(layout(i, j));
        extent = std::max({extent, places_.back() + 1, room ? room(i, j) + 1 : 0});
      }
    }
    device = static_cast<T*>(allocate(extent * sizeof(T)));
    if (!is_fresh) put(values);
  }
  ~OnDevice() { free_at_end(device); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  void put(const Dense& values) {
    for_each_run([&](int place, const std::vector<int>& elements) {
      std::vector<T> run;
      for (const int element : elements) run.push_back(from<T>(values.all[element].value));
      check(cudaMemcpy(device + place, run.data(), run.size() * sizeof(T), cudaMemcpyHostToDevice));
    });
  }
  Dense get() const {
    Dense values(rows_, columns_);
    for_each_run([&](int place, const std::vector<int>& elements) {
      std::vector<T> run(elements.size());
      check(cudaMemcpy(run.data(), device + place, run.size() * sizeof(T), cudaMemcpyDeviceToHost));
      for (std::size_t i = 0; i < run.size(); ++i) values.all[elements[i]] = number(run[i]);
    });
    return values;
  }
  [[nodiscard]] bool has(std::size_t element) const { return places_[element] >= 0; }

 private:
  // Calls visit(position of the first, adjacent elements).
  template <class Visit>
  void for_each_run(Visit visit) const {
    std::vector<int> order;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] >= 0) order.push_back(static_cast<int>(i));
    }
    std::sort(order.begin(), order.end(), [&](int a, int b) { return places_[a] < places_[b]; });
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      while (end < order.size() &&
             places_[order[end]] - places_[order[begin]] == static_cast<int>(end - begin)) {
        ++end;
      }
      visit(places_[order[begin]], {order.begin() + begin, order.begin() + end});
    }
  }
  int rows_, columns_;
  std::vector<int> places_;
};

// An array of pointers on the device.
template <class T>
class Pointers {
 public:
  T** device = nullptr;
  explicit Pointers(std::vector<T*> all)
      : device(static_cast<T**>(allocate(all.size() * sizeof(T*)))) {
    check(cudaMemcpy(device, all.data(), all.size() * sizeof(T*), cudaMemcpyHostToDevice));
  }
  ~Pointers() { free_at_end(device); }
  Pointers(const Pointers&) = delete;
  Pointers& operator=(const Pointers&) = delete;
};

// ---- calls ----

extern cublasHandle_t handle;
// Calls functions by their _64 names, if they have such names.
extern bool is_wide;

void note_call(const char* function, int status);

// A function, and its variant with 64-bit sizes.
template <class Narrow, class Wide>
struct Function {
  const char *narrow_name, *wide_name;
  Narrow* narrow;
  Wide* wide;
};
template <class Narrow, class Wide>
constexpr Function<Narrow, Wide> both_forms(const char* narrow_name, const char* wide_name,
                                            Narrow* narrow, Wide* wide) {
  return {narrow_name, wide_name, narrow, wide};
}
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#ifdef LEGACY
#define BOTH(name) \
  LegacyForm { #name, name }
#define ONLY(name) BOTH(name)
#define NOT_LEGACY(...)
#define OF_LEVEL(name) try_legacy_##name
#else
#define BOTH(name) both_forms(TEXT(name), TEXT(name##_64), name, name##_64)
#define ONLY(name) both_forms(TEXT(name), TEXT(name), name, name)
#define NOT_LEGACY(...) __VA_ARGS__
#define OF_LEVEL(name) try_##name
#endif

template <class... Parameters, class... Arguments>
int call_with(cublasStatus_t (*function)(Parameters...), Arguments&&... arguments) {
  return function(static_cast<Parameters>(arguments)...);
}
#ifdef LEGACY
// A function of the legacy API, which is called with the arguments of the function with a handle:
// scalars become values, enumerations become letters, and the last argument is the place of the
// result.
template <class Answer, class... Parameters>
struct LegacyForm {
  const char* name;
  Answer (*function)(Parameters...);
};
template <class Answer, class... Parameters>
LegacyForm(const char*, Answer (*)(Parameters...)) -> LegacyForm<Answer, Parameters...>;
template <class Parameter, class Argument>
Parameter passed(const Argument& argument) {
  if constexpr (std::is_same_v<Parameter, char>) {
    if constexpr (std::is_same_v<Argument, cublasOperation_t>) return "NTC"[argument];
    if constexpr (std::is_same_v<Argument, cublasFillMode_t>) return "LU"[argument];
    if constexpr (std::is_same_v<Argument, cublasSideMode_t>) return "LR"[argument];
    if constexpr (std::is_same_v<Argument, cublasDiagType_t>) return "NU"[argument];
  } else if constexpr (std::is_pointer_v<Argument> && !std::is_pointer_v<Parameter>) {
    return *argument;
  } else {
    return static_cast<Parameter>(argument);
  }
}
template <class Answer, class... Parameters, class Arguments, std::size_t... I>
Answer call_legacy(Answer (*function)(Parameters...), const Arguments& arguments,
                   std::index_sequence<I...>) {
  return function(passed<Parameters>(std::get<I>(arguments))...);
}
template <class Answer, class... Parameters, class... Arguments>
int run(const LegacyForm<Answer, Parameters...>& form, cublasHandle_t,
        const Arguments&... arguments) {
  const auto all = std::make_tuple(arguments...);
  const auto parameters = std::index_sequence_for<Parameters...>();
  if constexpr (std::is_void_v<Answer>) {
    call_legacy(form.function, all, parameters);
  } else {
    *static_cast<Answer*>(std::get<sizeof...(Arguments) - 1>(all)) =
        call_legacy(form.function, all, parameters);
  }
  const int status = cublasGetError();
  note_call(form.name, status);
  return status;
}
#else
template <class F, class... Arguments>
int run(const F& function, Arguments&&... arguments) {
  const int status =
      is_wide ? call_with(function.wide, arguments...) : call_with(function.narrow, arguments...);
  note_call(is_wide ? function.wide_name : function.narrow_name, status);
  return status;
}
#endif

// Calls a function that has only one form.
#define CALL(function, ...)                                      \
  [&] {                                                          \
    const auto status_of_call = function(__VA_ARGS__);           \
    note_call(TEXT(function), static_cast<int>(status_of_call)); \
    return status_of_call;                                       \
  }()

// ---- results of the latest call ----

void expect(const char* what, bool is_right);
// Checks and records the status.
void expect_status(int found, cublasStatus_t wanted);
// roundoff: of the computing type; roundoff_stored: of the type of the stored numbers
void expect_numbers(const std::vector<Number>& found, const std::vector<Bounded>& wanted,
                    double roundoff, double roundoff_stored);

template <class T>
void expect_value(const T& found, const Bounded& wanted, double roundoff = kRoundoff<T>) {
  expect_numbers({number(found)}, {wanted}, roundoff, kRoundoff<T>);
}
template <class T>
void expect_matrix(const OnDevice<T>& found, const Dense& wanted, double roundoff = kRoundoff<T>) {
  const Dense all = found.get();
  std::vector<Number> numbers;
  std::vector<Bounded> bounded;
  for (std::size_t i = 0; i < all.all.size(); ++i) {
    if (!found.has(i)) continue;
    numbers.push_back(all.all[i].value);
    bounded.push_back(wanted.all[i]);
  }
  expect_numbers(numbers, bounded, roundoff, kRoundoff<T>);
}

// ---- the cases, one per file ----

void try_level_1();
void try_level_2();
void try_level_3();
void try_legacy_level_1();
void try_legacy_level_2();
void try_legacy_level_3();
void try_legacy_settings();
void try_batches();
void try_typed();
void try_settings();
void try_statuses();  // of invalid calls
void try_matmul();
void try_product_statuses();
void try_xt();
