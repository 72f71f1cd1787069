#include "vgpu/differential/events/uniform_program.hpp"

#include <fmt/format.h>

#include <array>

#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/schedule/prng.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr const char* kHead = R"(
.version 8.7
.target sm_90
.address_size 64
.func (.param .b32 out) g(.param .b32 in)
{
.reg .b32 %r<3>;
ld.param.b32 %r0, [in];
mov.u32 %r1, %ntid.x;
mad.lo.u32 %r2, %r0, 3, %r1;
st.param.b32 [out], %r2;
ret;
}
.func (.param .b32 out) f(.param .b32 in, .param .b32 turns)
{
.reg .b32 %r<4>;
.reg .pred %p;
ld.param.b32 %r0, [in];
ld.param.b32 %r1, [turns];
and.b32 %r2, %r1, 3;
setp.eq.u32 %p, %r2, 0;
@%p bra DONE;
AGAIN:
{
.param .b32 a;
.param .b32 b;
st.param.b32 [a], %r0;
call.uni (b), g, (a);
ld.param.b32 %r3, [b];
}
xor.b32 %r0, %r0, %r3;
sub.u32 %r2, %r2, 1;
setp.gt.s32 %p, %r2, 0;
@%p bra AGAIN;
DONE:
st.param.b32 [out], %r0;
ret;
}
.visible .entry k(.param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %u<6>, %v<4>, %x<3>, %i<3>, %turn;
.reg .b64 %w<3>, %out, %a;
.reg .f32 %f<2>;
.reg .f64 %d<2>;
.shared .align 16 .b8 cells[1024];
ld.param.u64 %out, [out];
mov.u32 %v0, %tid.x;
mad.lo.u32 %v1, %v0, 7, 3;
mov.u32 %v2, %laneid;
shr.u32 %v3, %v0, 1;
mov.u32 %u0, %ntid.x;
mov.u32 %u1, %ctaid.x;
mov.u32 %u2, 3;
add.u32 %u3, %u0, %u2;
mul.lo.u32 %u4, %u3, %u3;
mov.u32 %u5, %u4;
mov.u64 %w0, 5;
mul.wide.u32 %w1, %u0, %u3;
add.u64 %w2, %w0, %w1;
cvt.rn.f32.s32 %f0, %u3;
cvt.rn.f32.s32 %f1, %v1;
cvt.rn.f64.s32 %d0, %u4;
cvt.rn.f64.s32 %d1, %u2;
setp.lt.u32 %p0, %u0, %u3;
setp.lt.u32 %p1, %v0, 9;
setp.eq.u32 %p2, %u1, %u2;
setp.eq.u32 %p3, %v2, 31;
mov.u32 %x0, cells;
mov.u32 %i0, %tid.x;
mov.u32 %i1, %laneid;
mov.u32 %i2, %i0;
shl.b32 %x1, %v0, 2;
add.u32 %x1, %x1, %x0;
st.shared.u32 [%x1], %v1;
st.shared.u32 [%x1+512], %u4;
bar.sync 0;
mov.u32 %turn, 0;
TURN:
)";

constexpr const char* kTail = R"(
bar.sync 0;
add.u32 %turn, %turn, 1;
setp.lt.u32 %p0, %turn, 3;
@%p0 bra TURN;
mov.u32 %v3, %tid.x;
mad.wide.u32 %out, %v3, 80, %out;
selp.b32 %x1, 1, 0, %p1;
selp.b32 %x2, 2, %x1, %p2;
selp.b32 %x1, 4, %x2, %p3;
mov.b32 %x2, %f0;
st.global.u32 [%out], %u0;
st.global.u32 [%out+4], %u1;
st.global.u32 [%out+8], %u2;
st.global.u32 [%out+12], %u3;
st.global.u32 [%out+16], %u4;
st.global.u32 [%out+20], %u5;
st.global.u64 [%out+24], %w0;
st.global.u64 [%out+32], %w1;
st.global.u64 [%out+40], %w2;
st.global.u32 [%out+48], %x1;
st.global.u32 [%out+52], %x2;
st.global.u32 [%out+56], %v0;
st.global.u32 [%out+60], %v1;
st.global.f64 [%out+64], %d0;
st.global.f64 [%out+72], %d1;
ret;
}
)";

class UniformGenerator {
 public:
  explicit UniformGenerator(std::uint64_t seed) : prng_(seed) {}

  std::string program() {
    constexpr std::array kThreads{32, 64, 96, 80};
    return fmt::format("// threads: {}{}{}{}", kThreads[prng_.below(kThreads.size())], kHead,
                       statements(12, 3), kTail);
  }

 private:
  std::string statements(std::uint64_t count, int depth) {
    std::string text;
    for (std::uint64_t i = 0; i < count; ++i) text += statement(depth);
    return text;
  }

  std::string statement(int depth) {
    if (depth > 0) {
      switch (prng_.below(16)) {
        case 0: return branch(depth - 1);
        case 1: return loop(depth - 1);
        case 2: return call();
        default: break;
      }
    }
    const std::string guard =
        prng_.one_in(6) ? fmt::format("@{}%p{} ", prng_.one_in(2) ? "!" : "", prng_.below(4)) : "";
    switch (prng_.below(13)) {
      case 10: return row_access(guard);
      case 11: return guard + ascending();
      case 12: return fmt::format("mov.u32 {}, %tid.y;\n", word());
      case 0: return guard + comparison();
      case 1: return guard + wide();
      case 2: return guard + real();
      case 3: return load(guard);
      case 4:
        return guard + fmt::format("selp.b32 {}, {}, {}, %p{};\n", word(), source(), source(),
                                   prng_.below(4));
      default: return guard + arithmetic();
    }
  }

  // Mostly a register that may be uniform.
  std::string word() {
    return prng_.one_in(6) ? fmt::format("%v{}", prng_.below(4))
                           : fmt::format("%u{}", prng_.below(6));
  }
  std::string source() {
    switch (prng_.below(12)) {
      case 0:
        return fmt::format("%{}", prng_.one_in(3) ? "i1" : "v" + std::to_string(prng_.below(4)));
      case 1: return "%turn";
      case 2: return fmt::format("{}", prng_.below(100));
      default: return fmt::format("%u{}", prng_.below(6));
    }
  }

  std::string arithmetic() {
    constexpr std::array kOps{"add.u32", "sub.u32", "mul.lo.u32", "xor.b32",
                              "and.b32", "min.s32", "max.u32",    "shl.b32"};
    const std::uint64_t kind = prng_.below(12);
    if (kind == 0) return fmt::format("mov.u32 {}, {};\n", word(), source());
    if (kind == 1) return fmt::format("mov.u32 {}, %ctaid.x;\n", word());
    if (kind == 2) return fmt::format("cvt.u32.u64 {}, %w{};\n", word(), prng_.below(3));
    if (kind == 3) {
      return fmt::format("mad.lo.u32 {}, {}, {}, {};\n", word(), source(), source(), source());
    }
    return fmt::format("{} {}, {}, {};\n", kOps[prng_.below(kOps.size())], word(), source(),
                       source());
  }

  std::string wide() {
    const std::uint64_t to = prng_.below(3), from = prng_.below(3), other = prng_.below(3);
    switch (prng_.below(5)) {
      case 0: return fmt::format("mul.wide.s32 %w{}, {}, {};\n", to, source(), source());
      case 1: return fmt::format("cvt.s64.s32 %w{}, {};\n", to, source());
      case 2: return fmt::format("mul.lo.u64 %w{}, %w{}, %w{};\n", to, from, other);
      case 3: return fmt::format("shl.b64 %w{}, %w{}, 3;\n", to, from);
      default: return fmt::format("add.u64 %w{}, %w{}, %w{};\n", to, from, other);
    }
  }

  std::string real() {
    const std::uint64_t to = prng_.below(2), from = prng_.below(2);
    switch (prng_.below(4)) {
      case 0: return fmt::format("cvt.rn.f32.s32 %f{}, {};\n", to, source());
      case 1: return fmt::format("fma.rn.f32 %f{0}, %f{1}, %f{1}, %f{0};\n", to, from);
      case 2: return fmt::format("add.f64 %d{0}, %d{0}, %d{1};\n", to, from);
      default: return fmt::format("mul.f64 %d{0}, %d{1}, %d{0};\n", to, from);
    }
  }

  std::string comparison() {
    switch (prng_.below(4)) {
      case 0:
        return fmt::format("setp.lt.u64 %p{}, %w{}, %w{};\n", prng_.below(4), prng_.below(3),
                           prng_.below(3));
      case 1:
        return fmt::format("setp.ge.f32 %p{}, %f{}, %f{};\n", prng_.below(4), prng_.below(2),
                           prng_.below(2));
      case 2: return fmt::format("not.pred %p{}, %p{};\n", prng_.below(4), prng_.below(4));
      default:
        return fmt::format("setp.{}.s32 %p{}, {}, {};\n", prng_.one_in(2) ? "lt" : "ne",
                           prng_.below(4), source(), source());
    }
  }

  std::string load(const std::string& guard) {
    const std::string at = fmt::format("and.b32 %x1, {}, 496;\nadd.u32 %x1, %x1, %x0;\n", source());
    switch (prng_.below(5)) {
      case 0:
        return at + guard +
               fmt::format("ld.shared.v2.u32 {{%u{}, %u{}}}, [%x1];\n", prng_.below(3),
                           3 + prng_.below(3));
      case 1: return at + guard + fmt::format("ld.shared.s8 {}, [%x1+1];\n", word());
      case 2: return at + guard + fmt::format("ld.shared.u64 %w{}, [%x1+8];\n", prng_.below(3));
      case 3: return guard + fmt::format("ld.global.u32 {}, [%out+4];\n", word());
      default: return at + guard + fmt::format("ld.shared.u32 {}, [%x1];\n", word());
    }
  }

  // Registers that mostly ascend from lane to lane.
  std::string ascending() {
    const std::uint64_t to = prng_.below(3), from = prng_.below(3);
    switch (prng_.below(5)) {
      case 0: return fmt::format("mov.u32 %i{}, %{};\n", to, prng_.one_in(2) ? "tid.x" : "laneid");
      case 1: return fmt::format("mad.lo.u32 %i{}, {}, {}, %i{};\n", to, source(), source(), from);
      case 2: return fmt::format("sub.u32 %i{}, %i{}, {};\n", to, from, source());
      case 3: return fmt::format("shl.b32 %i{}, %i{}, {};\n", to, from, prng_.below(3));
      default: return fmt::format("add.u32 %i{}, %i{}, {};\n", to, from, source());
    }
  }

  // An access to cells that probably are side by side.
  std::string row_access(const std::string& guard) {
    const std::uint64_t from = prng_.below(3);
    constexpr std::array kSizes{1, 4, 4, 8};
    const int size = kSizes[prng_.below(kSizes.size())];
    switch (prng_.below(4)) {
      case 0:
        return fmt::format(
                   "cvt.{}.{} %w{}, %i{};\nmul.lo.u64 %w{}, %w{}, 4;\nadd.u64 %a, %w{}, %out;\n",
                   "s64", prng_.one_in(2) ? "s32" : "u32", from, from, from, from, from) +
               guard + fmt::format("ld.global.u32 {}, [%a];\n", word());
      case 1:
        return fmt::format("mul.wide.{} %a, %i{}, {};\nadd.u64 %a, %a, %out;\n",
                           prng_.one_in(2) ? "s32" : "u32", from, size) +
               guard +
               fmt::format("ld.global.u{} {}, [%a];\n", 8 * size, size == 8 ? "%w0" : word());
      case 2:
        return fmt::format("mad.lo.u32 %x1, %i{}, {}, %x0;\n", from, size) + guard +
               fmt::format("ld.shared.b{} {}, [%x1];\n", 8 * size, size == 8 ? "%w1" : word());
      default:
        return fmt::format("shl.b32 %x1, %i{}, 2;\nadd.u32 %x1, %x0, %x1;\n", from) + guard +
               fmt::format("st.shared.u32 [%x1], {};\n", word());
    }
  }

  std::string branch(int depth) {
    const unsigned id = label_++;
    std::string text =
        fmt::format("@{}%p{} bra ELSE{};\n", prng_.one_in(2) ? "!" : "", prng_.below(4), id) +
        statements(2, depth);
    if (prng_.one_in(2)) {
      text += fmt::format("bra END{0};\nELSE{0}:\n", id) + statements(2, depth) +
              fmt::format("END{}:\n", id);
      return text;
    }
    return text + fmt::format("ELSE{}:\n", id);
  }

  // Lanes may leave it together or not, from its middle, and go back from its middle.
  std::string loop(int depth) {
    const unsigned id = label_++;
    std::string text = fmt::format(".reg .b32 %n{0};\n.reg .pred %q{0};\n", id);
    text += fmt::format("and.b32 %n{}, {}, 3;\nLOOP{}:\n", id,
                        prng_.one_in(2) ? "%v" + std::to_string(prng_.below(4)) : source(), id);
    text += fmt::format("sub.u32 %n{}, %n{}, 1;\n", id, id) + statements(2, depth);
    text += fmt::format("setp.lt.s32 %q{0}, %n{0}, 0;\n@%q{0} bra OUT{0};\n", id);
    if (prng_.one_in(3)) text += fmt::format("@%p{} bra OUT{};\n", prng_.below(4), id);
    if (prng_.one_in(3)) text += fmt::format("@%p{} bra LOOP{};\n", prng_.below(4), id);
    return text + statements(2, depth) + fmt::format("bra LOOP{0};\nOUT{0}:\n", id);
  }

  std::string call() {
    return fmt::format(
        "{{\n.param .b32 a;\n.param .b32 turns;\n.param .b32 b;\nst.param.b32 [a], {};\n"
        "st.param.b32 [turns], {};\ncall.uni (b), f, (a, turns);\nld.param.b32 {}, [b];\n}}\n",
        word(), source(), word());
  }

  Prng prng_;
  unsigned label_ = 0;
};

}  // namespace

std::string uniform_program(std::uint64_t seed) { return UniformGenerator(seed).program(); }

EventShape uniform_shape(const std::string& text, std::uint64_t seed) {
  constexpr std::array<std::uint32_t, 4> kThreadsOfRow{0, 16, 32, 8};
  const std::uint32_t row = kThreadsOfRow[seed % kThreadsOfRow.size()];
  return {.blocks = 2, .row = threads_of(text) % 32 != 0 && row == 32 ? 0 : row};
}

}  // namespace warpcheck::vgpu
