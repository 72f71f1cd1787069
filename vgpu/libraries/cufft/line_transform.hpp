// The discrete Fourier transform of one line of complex numbers, in double precision.
//
// It is own code, because its results must have the same bits on every machine: the common
// libraries select vector code by the processor, and take their twiddle factors from the host's
// libm, which does so too.  Lengths with small prime factors use Stockham's algorithm with one
// radix per factor; other lengths use a convolution (Bluestein, 1970).  Both take O(n log n).
#pragma once

#include <cstddef>
#include <vector>

namespace warpcheck::libraries::fourier {

struct Complex {
  double re = 0, im = 0;
  friend bool operator==(const Complex&, const Complex&) = default;
};

inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
inline Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline Complex conjugate(Complex a) { return {a.re, -a.im}; }

// The sign of the exponent, as in CUFFT_FORWARD and CUFFT_INVERSE.
enum class Direction : int { forward = -1, inverse = 1 };

class LineTransform {
 public:
  // length: at least 1
  explicit LineTransform(std::size_t length);

  // Computes y[k] = sum over j of x[j] exp(sign 2 pi i j k / length), not scaled, in place.
  //   scratch: of any size and content; callers that transform many lines should keep it
  void transform(std::vector<Complex>& line, std::vector<Complex>& scratch,
                 Direction direction) const;

  [[nodiscard]] std::size_t length() const { return length_; }

 private:
  void forward(std::vector<Complex>& line, std::vector<Complex>& scratch) const;
  void pass(std::size_t radix, std::size_t sublength, std::size_t stride,
            const std::vector<Complex>& from, std::vector<Complex>& to) const;
  void convolve(std::vector<Complex>& line, std::vector<Complex>& scratch) const;

  std::size_t length_;
  std::vector<std::size_t> radices_;  // empty if the length uses a convolution, or is 1
  std::vector<Complex> roots_;        // exp(-2 pi i k / length)
  // For a convolution: exp(-pi i k^2 / length), and the transform of its conjugate.
  std::vector<Complex> chirp_, chirp_transform_;
  std::vector<LineTransform> of_padded_;  // one, or none
};

}  // namespace warpcheck::libraries::fourier
