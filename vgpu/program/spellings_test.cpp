// Whatever the ISA allows to leave out may be left out: see spellings.def.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/forms.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::string_view kBeforeSpelling =
    "\n.address_size 64\n"
    ".shared .align 128 .b8 shared[1024];\n"
    ".global .align 16 .b8 global[1024];\n"
    ".const .align 4 .b8 constant[64];\n"
    ".func callee() { ret; }\n"
    ".visible .entry k(.param .u64 param) {\n"
    ".reg .pred p, q; .reg .b16 h<4>; .reg .b32 r<12>; .reg .b64 d<4>; .reg .f32 f<8>;\n"
    ".reg .f64 g<2>; .reg .b128 w<3>; .reg .b64 a, b, generic; .reg .b32 sa, sb, sc;\n"
    "targets: .branchtargets there;\n";
constexpr std::string_view kAfterSpelling = "\nthere: ret;\n}\n";

// Returns why the text is refused; empty: it is decoded.
//   target: "sm_90a"
std::string why_not_decoded(const std::string& target, const std::string& text) {
  std::string module = ".version 9.0\n.target " + target;
  module.append(kBeforeSpelling).append(text).append(kAfterSpelling);
  try {
    decode(ptx::parse(module, "t"), "k");
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return {};
}

TEST(Spellings, ThatTheIsaAllowsAreDecoded) {
  const std::vector<ptx::FormRow> rows{
#define SPELLING(target, mnemonic, text) {#target, 0, mnemonic, "", text},
#define REFUSED(target, mnemonic, text)
#include "vgpu/program/spellings.def"
#undef REFUSED
#undef SPELLING
  };
  const std::vector<ptx::InstructionForm> forms = ptx::expand_forms(rows);
  EXPECT_GT(forms.size(), 3000u);
  for (const ptx::InstructionForm& form : forms) {
    EXPECT_EQ(why_not_decoded(form.family, form.text), "") << form.text;
  }
}

TEST(Spellings, OfInstructionsThatAreNotSupportedAreRefusedByName) {
  const std::vector<ptx::FormRow> rows{
#define SPELLING(target, mnemonic, text)
#define REFUSED(target, mnemonic, text) {#target, 0, mnemonic, "", text},
#include "vgpu/program/spellings.def"
#undef REFUSED
#undef SPELLING
  };
  const std::vector<ptx::InstructionForm> forms = ptx::expand_forms(rows);
  EXPECT_GT(forms.size(), 20u);
  for (const ptx::InstructionForm& form : forms) {
    const std::string name = form.text.substr(0, form.text.find_first_of(" ;"));
    EXPECT_NE(why_not_decoded(form.family, form.text).find("'" + name + "'"), std::string::npos)
        << form.text;
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
