#include "vgpu/differential/random_program.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr unsigned kWords = 8, kWides = 2, kPredicates = 4;
constexpr std::uint32_t kLocalWords = 16;

// Destination first.  w: 32 bits, d: 64 bits, p: predicate, destination or source; i: an immediate
// below 256; f: 32 bits that are moved to a float register and back.
struct Form {
  std::string_view mnemonic, operands;
};
constexpr auto kForms = std::to_array<Form>({
    {"add.u32", "www"},        {"add.s64", "ddd"},          {"sub.s32", "www"},
    {"sub.u64", "ddd"},        {"mul.lo.u32", "www"},       {"mul.lo.s64", "ddd"},
    {"mul.hi.u32", "www"},     {"mul.hi.s32", "www"},       {"mul.hi.u64", "ddd"},
    {"mul.hi.s64", "ddd"},     {"mul.wide.u32", "dww"},     {"mul.wide.s32", "dww"},
    {"mad.lo.s32", "wwww"},    {"mad.wide.u32", "dwwd"},    {"mad.lo.u64", "dddd"},
    {"mul24.lo.u32", "www"},   {"mul24.lo.s32", "www"},     {"sad.u32", "wwww"},
    {"sad.s32", "wwww"},       {"min.u32", "www"},          {"min.s64", "ddd"},
    {"max.s32", "www"},        {"max.u64", "ddd"},          {"abs.s32", "ww"},
    {"neg.s64", "dd"},         {"popc.b32", "ww"},          {"popc.b64", "wd"},
    {"clz.b32", "ww"},         {"clz.b64", "wd"},           {"bfind.u32", "ww"},
    {"bfind.s32", "ww"},       {"brev.b32", "ww"},          {"brev.b64", "dd"},
    {"bfe.u32", "wwii"},       {"bfe.s32", "wwii"},         {"bfe.u64", "ddii"},
    {"bfe.s64", "ddii"},       {"bfi.b32", "wwwii"},        {"bfi.b64", "dddii"},
    {"and.b32", "www"},        {"or.b64", "ddd"},           {"xor.b32", "www"},
    {"xor.b64", "ddd"},        {"not.b32", "ww"},           {"not.b64", "dd"},
    {"cnot.b32", "ww"},        {"shl.b32", "www"},          {"shl.b64", "ddi"},
    {"shr.u32", "wwi"},        {"shr.s32", "www"},          {"shr.u64", "ddi"},
    {"shr.s64", "ddw"},        {"shf.l.wrap.b32", "wwww"},  {"shf.r.clamp.b32", "wwwi"},
    {"prmt.b32", "wwww"},      {"lop3.b32", "wwwwi"},       {"selp.b32", "wwwp"},
    {"selp.b64", "dddp"},      {"slct.u32.s32", "wwww"},    {"setp.lt.s32", "pww"},
    {"setp.ge.u32", "pww"},    {"setp.eq.b32", "pwi"},      {"setp.gt.s64", "pdd"},
    {"setp.ls.u64", "pdd"},    {"setp.ne.and.s32", "pwwp"}, {"setp.le.xor.u32", "pwwp"},
    {"set.lt.u32.s32", "www"}, {"and.pred", "ppp"},         {"xor.pred", "ppp"},
    {"not.pred", "pp"},        {"cvt.u64.u32", "dw"},       {"cvt.s64.s32", "dw"},
    {"cvt.u32.u64", "wd"},     {"cvt.s32.s8", "ww"},        {"cvt.u32.u16", "ww"},
    {"cvt.sat.u8.s32", "ww"},  {"cvt.sat.s16.s32", "ww"},   {"cvt.sat.s32.s64", "wd"},
    {"add.f32", "fff"},        {"sub.rz.f32", "fff"},       {"mul.rn.f32", "fff"},
    {"fma.rn.f32", "ffff"},    {"fma.rm.f32", "ffff"},      {"add.rp.f32", "fff"},
    {"min.f32", "fff"},        {"max.f32", "fff"},          {"neg.f32", "ff"},
    {"copysign.f32", "fff"},   {"setp.lt.f32", "pff"},      {"setp.geu.f32", "pff"},
    {"setp.num.f32", "pff"},   {"cvt.rn.f32.s32", "fw"},    {"cvt.rn.f32.u64", "fd"},
    {"cvt.rzi.s32.f32", "wf"}, {"cvt.rmi.u32.f32", "wf"},   {"cvt.rni.s64.f32", "df"},
    {"mul.ftz.f32", "fff"},    {"add.sat.f32", "fff"},      {"div.rn.f32", "fff"},
    {"sqrt.rn.f32", "ff"},
});

constexpr std::array<std::uint32_t, 12> kSeeds{0,          1,          0xffffffff, 0x80000000,
                                               0x7fffffff, 0x3f800000, 0x7f800000, 0x7fc00001,
                                               0x00000001, 0xff7fffff, 0x4b000001, 0x00010000};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : prng_(seed) {}

  std::string run() {
    functions_ = static_cast<unsigned>(prng_.below(4));
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
    for (unsigned i = 0; i < functions_; ++i) {
      text += fmt::format(
          ".func (.param .b32 r) f{}(.param .b32 depth, .param .b32 x, "
          ".param .b64 y);\n",
          i);
    }
    if (functions_ > 0) {
      text += fmt::format(".global .align 8 .u64 table[2] = {{f0, f{}}};\n", functions_ - 1);
    }
    for (unsigned i = 0; i < functions_; ++i) text += function(i);
    return text + kernel();
  }

 private:
  // ---- the frame of a body ----
  std::string declarations() {
    return fmt::format(
        ".reg .pred %p<{}>, %t<2>;\n.reg .b32 %r<{}>, %u<4>, %c<{}>;\n.reg .b64 %d<{}>, %a<4>;\n"
        ".reg .f32 %f<4>;\n.local .align 4 .b8 here[{}];\n",
        kPredicates, kWords, loops_ + 1, kWides, kLocalWords * 4);
  }

  // Registers and local memory get values that depend on the thread and on what comes in.
  std::string beginning() {
    std::string text;
    for (unsigned i = 2; i < kWords; ++i) {
      text += fmt::format("mad.lo.u32 %r{}, %r{}, {}, {};\n", i, i - 2, prng_.next() & 0xffff,
                          kSeeds[prng_.below(kSeeds.size())]);
    }
    text += fmt::format("mul.wide.u32 %d1, %r3, {};\nxor.b64 %d0, %d0, %d1;\n", prng_.next() >> 33);
    for (unsigned i = 0; i < kPredicates; ++i) {
      text += fmt::format("setp.gt.u32 %p{}, %r{}, {};\n", i, i + 2, prng_.next() >> 32);
    }
    text += "mov.u64 %a0, here;\n";
    for (unsigned i = 0; i < kLocalWords; ++i) {
      text += fmt::format("st.local.u32 [%a0+{}], %r{};\n", i * 4, i % kWords);
    }
    return text;
  }

  void begin_body(bool in_kernel) {
    in_kernel_ = in_kernel;
    loops_ = 0;
    loop_depth_ = 0;
    calls_left_ = 2;
  }

  std::string function(unsigned index) {
    begin_body(false);
    const std::string code = statements(3);
    return fmt::format(
        ".func (.param .b32 r) f{}(.param .b32 depth, .param .b32 x, .param .b64 y)\n{{\n{}"
        "ld.param.b32 %u0, [depth];\nld.param.b32 %r0, [x];\nld.param.b64 %d0, [y];\n"
        "mov.u32 %r1, {};\nst.param.b32 [r], %r0;\nsetp.eq.u32 %t0, %u0, 0;\n@%t0 ret;\n"
        "sub.u32 %u0, %u0, 1;\n{}{}{}st.param.b32 [r], %u1;\nret;\n}}\n",
        index, declarations(), index * 77 + 5, beginning(), code, folded());
  }

  std::string kernel() {
    begin_body(true);
    const std::string code = statements(8);
    std::string text = ".visible .entry k(.param .u64 out)\n{\n" + declarations() +
                       "mov.u32 %r0, %tid.x;\nmov.u32 %u0, 2;\nmul.lo.u32 %r1, %r0, 0x9e3779b9;\n"
                       "cvt.u64.u32 %d0, %r1;\n" +
                       beginning() + code;
    text += fmt::format(
        "ld.param.u64 %a1, [out];\nmov.u32 %u1, %tid.x;\nmul.wide.u32 %a2, %u1, {};\n"
        "add.u64 %a1, %a1, %a2;\n",
        kOutputWords * 4);
    for (unsigned i = 0; i < kWords; ++i) {
      text += fmt::format("st.global.u32 [%a1+{}], %r{};\n", i * 4, i);
    }
    text += fmt::format("st.global.u64 [%a1+{}], %d0;\nst.global.u64 [%a1+{}], %d1;\n", kWords * 4,
                        kWords * 4 + 8);
    return text + "ret;\n}\n";
  }

  // All registers in %u1.
  static std::string folded() {
    std::string text = "cvt.u32.u64 %u1, %d0;\n";
    for (unsigned i = 0; i < kWords; ++i) {
      text += fmt::format("mad.lo.u32 %u1, %u1, 31, %r{};\n", i);
    }
    return text;
  }

  // ---- statements ----
  std::string statements(unsigned budget) {
    std::string text;
    const auto count = 2 + prng_.below(6);
    for (std::uint64_t i = 0; i < count; ++i) text += statement(budget);
    return text;
  }

  std::string statement(unsigned budget) {
    const std::uint64_t kind = prng_.below(20);
    if (budget > 0 && kind == 0) return either(budget / 2);
    if (budget > 0 && kind == 1 && loop_depth_ < 2) return loop(budget / 2);
    if (budget > 0 && kind == 2) return jump_table(budget / 2);
    if (kind == 3 && functions_ > 0) return call();
    if (kind == 4) return memory();
    if (kind == 5) return carries();
    if (kind == 6) return division();
    return instruction();
  }

  std::string either(unsigned budget) {
    const unsigned id = label_++;
    std::string text =
        fmt::format("@{}%p{} bra ELSE{};\n", prng_.one_in(2) ? "!" : "", predicate(), id);
    text += statements(budget);
    if (prng_.one_in(3)) return text + fmt::format("ELSE{}:\n", id);  // no other arm
    // Now and then the first arm runs into the second one.
    if (!prng_.one_in(5)) text += fmt::format("bra END{};\n", id);
    return text + fmt::format("ELSE{}:\n", id) + statements(budget) + fmt::format("END{}:\n", id);
  }

  std::string loop(unsigned budget) {
    const unsigned id = label_++;
    const unsigned counter = loops_++;
    std::string text = fmt::format("and.b32 %c{}, %r{}, 3;\nLOOP{}:\n", counter, word(), id);
    ++loop_depth_;
    text += statements(budget);
    if (prng_.one_in(3)) {
      text += fmt::format("@%p{} bra OUT{};\n", predicate(), id) + statements(0);
    }
    --loop_depth_;
    return text + fmt::format(
                      "sub.u32 %c{0}, %c{0}, 1;\nsetp.lt.s32 %t0, %c{0}, 0;\n"
                      "@!%t0 bra LOOP{1};\nOUT{1}:\n",
                      counter, id);
  }

  std::string jump_table(unsigned budget) {
    const unsigned id = label_++;
    std::string text = fmt::format(
        "and.b32 %u2, %r{1}, 3;\nT{0}: .branchtargets A{0}, B{0}, C{0}, B{0};\nbrx.idx %u2, "
        "T{0};\n",
        id, word());
    for (const char arm : {'A', 'B', 'C'}) {
      text += fmt::format("{}{}:\n", arm, id) + statements(budget);
      if (prng_.one_in(2)) text += fmt::format("bra E{};\n", id);
    }
    return text + fmt::format("E{}:\n", id);
  }

  // In functions few, and outside of loops, so that programs end soon.
  std::string call() {
    if (!in_kernel_ && (loop_depth_ > 0 || calls_left_ == 0)) return instruction();
    --calls_left_;
    const bool by_register = prng_.one_in(2);
    std::string text = "{\n.param .b32 p0;\n.param .b32 p1;\n.param .b64 p2;\n.param .b32 q;\n";
    text +=
        fmt::format("st.param.b32 [p0], %u0;\nst.param.b32 [p1], %r{};\nst.param.b64 [p2], %d{};\n",
                    word(), wide());
    if (by_register) {
      text += fmt::format(
          "and.b32 %u2, %r{1}, 1;\nmul.wide.u32 %a1, %u2, 8;\nmov.u64 %a2, table;\n"
          "add.u64 %a1, %a1, %a2;\nld.global.u64 %a3, [%a1];\n"
          "S{0}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b64 _);\n"
          "call (q), %a3, (p0, p1, p2), S{0};\n",
          label_++, word());
    } else {
      text += fmt::format("call (q), f{}, (p0, p1, p2);\n", prng_.below(functions_));
    }
    return text + fmt::format("ld.param.b32 %r{}, [q];\n}}\n", word());
  }

  std::string memory() {
    const std::string address = fmt::format(
        "and.b32 %u2, %r{}, {};\nshl.b32 %u2, %u2, 2;\ncvt.u64.u32 %a1, %u2;\nadd.u64 %a1, %a0, "
        "%a1;\n",
        word(), kLocalWords - 1);
    if (prng_.one_in(2)) return address + fmt::format("st.local.u32 [%a1], %r{};\n", word());
    return address + fmt::format("ld.local.u32 %r{}, [%a1];\n", word());
  }

  std::string carries() {
    const unsigned a = word(), b = word();
    const bool subtracts = prng_.one_in(2);
    return fmt::format("{0}.cc.u32 %r{1}, %r{2}, %r{3};\n{0}c.u32 %r{4}, %r{2}, %r{1};\n",
                       subtracts ? "sub" : "add", a, b, word(), word());
  }

  std::string division() {
    const char* const name = prng_.one_in(2) ? "div" : "rem";
    if (prng_.one_in(2)) {
      return fmt::format(
          "and.b32 %u2, %r{}, 0x7fffffff;\nor.b32 %u2, %u2, 1;\n{}.s32 %r{}, %r{}, %u2;\n", word(),
          name, word(), word());
    }
    return fmt::format("or.b64 %a1, %d{}, 1;\n{}.u64 %d{}, %d{}, %a1;\n", wide(), name, wide(),
                       wide());
  }

  std::string instruction() {
    const Form& form = kForms[prng_.below(kForms.size())];
    const std::string guard =
        prng_.one_in(5) ? fmt::format("@{}%p{} ", prng_.one_in(2) ? "!" : "", predicate()) : "";
    std::string before, operands, after;
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      std::string operand;
      switch (form.operands[i]) {
        case 'w':
          operand = i > 0 && form.operands.find('p') == std::string_view::npos && prng_.one_in(6)
                        ? fmt::format("{:#x}", kSeeds[prng_.below(kSeeds.size())])
                        : fmt::format("%r{}", word());
          break;
        case 'd': operand = fmt::format("%d{}", wide()); break;
        case 'p': operand = fmt::format("%p{}", predicate()); break;
        case 'f':
          operand = fmt::format("%f{}", i);
          if (i == 0) after = fmt::format("{}mov.b32 %r{}, %f0;\n", guard, word());
          if (i > 0) before += fmt::format("mov.b32 %f{}, %r{};\n", i, word());
          break;
        default: operand = fmt::format("{}", prng_.below(prng_.one_in(4) ? 256 : 33)); break;
      }
      operands += (i == 0 ? " " : ", ") + operand;
    }
    return before + guard + std::string(form.mnemonic) + operands + ";\n" + after;
  }

  unsigned word() { return static_cast<unsigned>(prng_.below(kWords)); }
  unsigned wide() { return static_cast<unsigned>(prng_.below(kWides)); }
  unsigned predicate() { return static_cast<unsigned>(prng_.below(kPredicates)); }

  Prng prng_;
  unsigned functions_ = 0, label_ = 0;
  bool in_kernel_ = false;
  unsigned loops_ = 0, loop_depth_ = 0;
  unsigned calls_left_ = 0;  // of a function
};

}  // namespace

std::string random_program(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace warpcheck::vgpu
