#include "vgpu/libraries/cufft/line_transform.hpp"

#include <bit>
#include <utility>

#include "vgpu/libraries/fixed_math.hpp"

namespace warpcheck::libraries::fourier {
namespace {

// A pass costs the square of its radix; beyond this radix a convolution is faster.
constexpr std::size_t kMaxRadix = 61;

// exp(-2 pi i k / length), rounded once.  Requires k < length.
Complex root_of_unity(std::size_t k, std::size_t length) {
  const long double turns = static_cast<long double>(k) / static_cast<long double>(length);
  const auto [sin, cos] = fixed_math::sin_cos_pi(2 * turns);
  return {static_cast<double>(cos), static_cast<double>(-sin)};
}

// The radices of the passes: 4 first, because it is the cheapest.  Empty if a prime factor is
// greater than kMaxRadix.
std::vector<std::size_t> factors(std::size_t length) {
  std::vector<std::size_t> found;
  for (; length % 4 == 0; length /= 4) found.push_back(4);
  for (std::size_t factor = 2; factor <= kMaxRadix && length > 1; ++factor) {
    for (; length % factor == 0; length /= factor) found.push_back(factor);
  }
  if (length > 1) found.clear();
  return found;
}

Complex times_minus_i(Complex a) { return {a.im, -a.re}; }

}  // namespace

LineTransform::LineTransform(std::size_t length) : length_(length), radices_(factors(length)) {
  if (length_ == 1) return;
  if (!radices_.empty()) {
    roots_.reserve(length_);
    for (std::size_t k = 0; k < length_; ++k) roots_.push_back(root_of_unity(k, length_));
    return;
  }
  const std::size_t padded = std::bit_ceil(2 * length_ - 1);
  of_padded_.emplace_back(padded);
  chirp_transform_.resize(padded);
  for (std::size_t k = 0; k < length_; ++k) {
    const auto square = static_cast<unsigned __int128>(k) * k;
    chirp_.push_back(root_of_unity(static_cast<std::size_t>(square % (2 * length_)), 2 * length_));
    chirp_transform_[k] = conjugate(chirp_[k]);
    chirp_transform_[(padded - k) % padded] = conjugate(chirp_[k]);
  }
  std::vector<Complex> scratch;
  of_padded_[0].forward(chirp_transform_, scratch);
}

void LineTransform::transform(std::vector<Complex>& line, std::vector<Complex>& scratch,
                              Direction direction) const {
  if (length_ == 1) return;
  if (direction == Direction::forward) {
    forward(line, scratch);
    return;
  }
  // The inverse transform is the conjugate of the forward transform of the conjugate.
  for (Complex& value : line) value = conjugate(value);
  forward(line, scratch);
  for (Complex& value : line) value = conjugate(value);
}

void LineTransform::forward(std::vector<Complex>& line, std::vector<Complex>& scratch) const {
  if (radices_.empty()) {
    convolve(line, scratch);
    return;
  }
  scratch.resize(length_);
  std::size_t sublength = length_;
  std::size_t stride = 1;
  for (const std::size_t radix : radices_) {
    pass(radix, sublength, stride, line, scratch);
    std::swap(line, scratch);
    sublength /= radix;
    stride *= radix;
  }
}

// One pass of Stockham's algorithm with decimation in frequency: turns `stride` interleaved
// sequences of `sublength` elements into stride * radix interleaved sequences.
void LineTransform::pass(std::size_t radix, std::size_t sublength, std::size_t stride,
                         const std::vector<Complex>& from, std::vector<Complex>& to) const {
  const std::size_t part = sublength / radix;
  const std::size_t step = length_ / sublength;  // step between the twiddle factors
  Complex terms[kMaxRadix];
  for (std::size_t j = 0; j < part; ++j) {
    for (std::size_t q = 0; q < stride; ++q) {
      const Complex* const in = &from[q + stride * j];
      Complex* const out = &to[q + stride * radix * j];
      for (std::size_t r = 0; r < radix; ++r) terms[r] = in[stride * part * r];
      if (radix == 4) {
        const Complex even = terms[0] + terms[2];
        const Complex odd = terms[1] + terms[3];
        const Complex even_rest = terms[0] - terms[2];
        const Complex odd_rest = times_minus_i(terms[1] - terms[3]);
        out[0] = even + odd;
        out[stride] = (even_rest + odd_rest) * roots_[step * j];
        out[2 * stride] = (even - odd) * roots_[2 * step * j];
        out[3 * stride] = (even_rest - odd_rest) * roots_[3 * step * j];
        continue;
      }
      for (std::size_t c = 0; c < radix; ++c) {
        Complex sum = terms[0];
        for (std::size_t r = 1; r < radix; ++r) {
          sum = sum + terms[r] * roots_[length_ / radix * (r * c % radix)];
        }
        out[stride * c] = c == 0 ? sum : sum * roots_[step * j * c];
      }
    }
  }
}

// Bluestein's algorithm: j k = (j^2 + k^2 - (k - j)^2) / 2 turns the transform into a convolution
// with a chirp, which is computed by transforms whose length is a power of two.
void LineTransform::convolve(std::vector<Complex>& line, std::vector<Complex>& scratch) const {
  const LineTransform& inner = of_padded_[0];
  std::vector<Complex> padded(inner.length());
  for (std::size_t k = 0; k < length_; ++k) padded[k] = line[k] * chirp_[k];
  inner.forward(padded, scratch);
  for (std::size_t k = 0; k < padded.size(); ++k) padded[k] = padded[k] * chirp_transform_[k];
  inner.transform(padded, scratch, Direction::inverse);
  // a power of two, so the product is exact
  const double scale = 1.0 / static_cast<double>(padded.size());
  for (std::size_t k = 0; k < length_; ++k) {
    const Complex value = padded[k] * chirp_[k];
    line[k] = {value.re * scale, value.im * scale};
  }
}

}  // namespace warpcheck::libraries::fourier
