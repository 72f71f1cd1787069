#include "vgpu/libraries/cufft/transforms.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

namespace warpcheck::libraries::fourier {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

double real_at(const std::byte* from, Precision precision) {
  switch (precision) {
    case Precision::half: return __half2float(load<__half>(from));
    case Precision::bfloat16: return __bfloat162float(load<__nv_bfloat16>(from));
    case Precision::single: return load<float>(from);
    default: return load<double>(from);
  }
}

template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void put_real(std::byte* to, Precision precision, double value) {
  switch (precision) {
    case Precision::half: return store(to, __float2half(static_cast<float>(value)));
    case Precision::bfloat16: return store(to, __float2bfloat16(static_cast<float>(value)));
    case Precision::single: return store(to, static_cast<float>(value));
    default: return store(to, value);
  }
}

template <class Visit>
void for_each_element(const Transforms::Memory& memory, Visit&& visit) {
  for (std::size_t i = 0; i < memory.regions.size(); ++i) {
    const Region& region = memory.regions[i];
    const LibraryView& view = memory.views[i];
    for (std::int64_t slice = 0; slice < region.depth; ++slice) {
      for (std::int64_t row = 0; row < region.height; ++row) {
        std::byte* at = view.data + slice * view.slice + row * view.pitch;
        for (std::int64_t k = 0; k < region.width; ++k, at += region.element_bytes) visit(at);
      }
    }
  }
}

std::vector<Complex> gather(const Transforms::Memory& memory, bool is_complex,
                            Precision precision) {
  std::vector<Complex> values;
  for_each_element(memory, [&](const std::byte* at) {
    Complex value{real_at(at, precision), 0};
    if (is_complex) value.im = real_at(at + bytes_of(precision), precision);
    values.push_back(value);
  });
  return values;
}

void scatter(const std::vector<Complex>& values, const Transforms::Memory& memory, bool is_complex,
             Precision precision) {
  std::size_t next = 0;
  for_each_element(memory, [&](std::byte* at) {
    const Complex& value = values[next++];
    put_real(at, precision, value.re);
    if (is_complex) put_real(at + bytes_of(precision), precision, value.im);
  });
}

std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

}  // namespace

struct Transforms::Line {
  std::vector<Complex> values, scratch;
};

Transforms::Transforms(const Shape& shape) : shape_(shape) {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    for (std::size_t same = 0; same < axis && axes_[axis] == nullptr; ++same) {
      if (shape.lengths[same] == shape.lengths[axis]) axes_[axis] = axes_[same];
    }
    if (axes_[axis] != nullptr) continue;
    axes_[axis] = std::make_shared<const LineTransform>(index(shape.lengths[axis]));
  }
}

void Transforms::compute(const Memory& input, const Memory& output, Direction direction) const {
  const bool from_complex = shape_.transform != Transform::real_to_complex;
  const bool to_complex = shape_.transform != Transform::complex_to_real;
  const std::vector<Complex> all = gather(input, from_complex, shape_.precision);
  std::vector<Complex> results;
  Line line;
  const std::size_t count = all.size() / index(shape_.batch);
  for (std::int64_t i = 0; i < shape_.batch; ++i) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(index(i) * count);
    std::vector<Complex> one(begin, begin + static_cast<std::ptrdiff_t>(count));
    transform(one, direction, line);
    results.insert(results.end(), one.begin(), one.end());
  }
  scatter(results, output, to_complex, shape_.precision);
}

void Transforms::transform(std::vector<Complex>& values, Direction direction, Line& line) const {
  switch (shape_.transform) {
    case Transform::complex_to_complex:
      for (int axis = 0; axis < 3; ++axis) along(axis, shape_.lengths, values, direction, line);
      return;
    case Transform::real_to_complex: return real_to_half(values, line);
    case Transform::complex_to_real: return half_to_real(values, line);
  }
}

// Transforms all lines along one axis of an array with `counts` elements in each dimension.
void Transforms::along(int axis, Lengths counts, std::vector<Complex>& values, Direction direction,
                       Line& line) const {
  const LineTransform& line_transform = *axes_[static_cast<std::size_t>(axis)];
  const std::size_t length = line_transform.length();
  if (length == 1) return;
  std::size_t stride = 1;
  for (int inner = axis + 1; inner < 3; ++inner) stride *= index(counts[index(inner)]);
  for (std::size_t block = 0; block < values.size(); block += stride * length) {
    for (std::size_t begin = block; begin < block + stride; ++begin) {
      line.values.resize(length);
      for (std::size_t k = 0; k < length; ++k) line.values[k] = values[begin + k * stride];
      line_transform.transform(line.values, line.scratch, direction);
      for (std::size_t k = 0; k < length; ++k) values[begin + k * stride] = line.values[k];
    }
  }
}

void Transforms::real_to_half(std::vector<Complex>& values, Line& line) const {
  along(2, shape_.lengths, values, Direction::forward, line);
  const std::size_t length = index(shape_.lengths[2]);
  const std::size_t half = length / 2 + 1;
  std::vector<Complex> kept;
  for (std::size_t row = 0; row < values.size(); row += length) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row);
    kept.insert(kept.end(), begin, begin + static_cast<std::ptrdiff_t>(half));
  }
  values = std::move(kept);
  const Lengths counts{shape_.lengths[0], shape_.lengths[1], static_cast<std::int64_t>(half)};
  along(1, counts, values, Direction::forward, line);
  along(0, counts, values, Direction::forward, line);
}

// Transforms the innermost dimension last, and before that fills in the half that the input omits.
// Values that are real in every such transform (the first element, and the middle one of an even
// length) are used without their imaginary part.
void Transforms::half_to_real(std::vector<Complex>& values, Line& line) const {
  const std::size_t length = index(shape_.lengths[2]);
  const std::size_t half = length / 2 + 1;
  const Lengths counts{shape_.lengths[0], shape_.lengths[1], static_cast<std::int64_t>(half)};
  along(0, counts, values, Direction::inverse, line);
  along(1, counts, values, Direction::inverse, line);
  std::vector<Complex> whole;
  whole.reserve(values.size() / half * length);
  for (std::size_t row = 0; row < values.size(); row += half) {
    whole.push_back({values[row].re, 0});
    for (std::size_t k = 1; k < length; ++k) {
      const bool is_given = k < half;
      const Complex value = is_given ? values[row + k] : conjugate(values[row + length - k]);
      whole.push_back({value.re, 2 * k == length ? 0 : value.im});
    }
  }
  values = std::move(whole);
  along(2, shape_.lengths, values, Direction::inverse, line);
}

}  // namespace warpcheck::libraries::fourier
