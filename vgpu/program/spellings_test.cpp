// Whatever the ISA allows to leave out may be left out: see spellings.def.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/forms.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::string_view kBeforeSpelling =
    ".version 9.0\n.target sm_100a\n.address_size 64\n"
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
std::string why_not_decoded(const std::string& text) {
  std::string module(kBeforeSpelling);
  module.append(text).append(kAfterSpelling);
  try {
    decode(ptx::parse(module, "t"), "k");
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return {};
}

std::vector<std::string> spelled_texts(const std::vector<ptx::FormRow>& rows) {
  std::vector<std::string> texts;
  for (const ptx::InstructionForm& form : ptx::expand_forms(rows)) texts.push_back(form.text);
  return texts;
}

TEST(Spellings, ThatTheIsaAllowsAreDecoded) {
  const std::vector<std::string> texts = spelled_texts({
#define SPELLING(target, mnemonic, text) {"spelling", 0, mnemonic, "", text},
#define REFUSED(target, mnemonic, text)
#include "vgpu/program/spellings.def"
#undef REFUSED
#undef SPELLING
  });
  EXPECT_GT(texts.size(), 3000u);
  for (const std::string& text : texts) EXPECT_EQ(why_not_decoded(text), "") << text;
}

TEST(Spellings, OfInstructionsThatAreNotSupportedAreRefusedByName) {
  const std::vector<std::string> texts = spelled_texts({
#define SPELLING(target, mnemonic, text)
#define REFUSED(target, mnemonic, text) {"spelling", 0, mnemonic, "", text},
#include "vgpu/program/spellings.def"
#undef REFUSED
#undef SPELLING
  });
  EXPECT_GT(texts.size(), 30u);
  for (const std::string& text : texts) {
    const std::string name = text.substr(0, text.find_first_of(" ;"));
    EXPECT_NE(why_not_decoded(text).find("'" + name + "'"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
