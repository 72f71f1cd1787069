// The opcode table, the suffix table and the form table must agree with each other.
#include "vgpu/ptx/opcode.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "vgpu/ptx/forms.hpp"
#include "vgpu/ptx/mnemonic.hpp"
#include "vgpu/ptx/opcode_row.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck::ptx {
namespace {

TEST(OpcodeTable, EveryRowIsFoundByItsName) {
  std::set<std::string_view> names;
  for (int at = 1; at < static_cast<int>(Opcode::count); ++at) {
    const auto opcode = static_cast<Opcode>(at);
    EXPECT_EQ(find_opcode(name_of(opcode)), opcode);
    EXPECT_TRUE(names.insert(name_of(opcode)).second) << name_of(opcode);
  }
}

TEST(OpcodeTable, NamesThatNoRowHas) {
  EXPECT_EQ(find_opcode(""), Opcode::invalid);
  EXPECT_EQ(find_opcode("ADD"), Opcode::invalid);
  EXPECT_EQ(find_opcode("invalid"), Opcode::invalid);
  EXPECT_EQ(name_of(Opcode::invalid), "invalid");
  EXPECT_EQ(name_of(Opcode::count), "invalid");
}

TEST(OpcodeTable, KeywordsOfTheHostLanguageAreRows) {
  EXPECT_EQ(name_of(Opcode::and_), "and");
  EXPECT_EQ(name_of(Opcode::not_), "not");
  EXPECT_EQ(name_of(Opcode::or_), "or");
}

// read_mnemonic() reads the words of all rows and throws where a word is unknown.
TEST(OpcodeTable, EveryWordOfEveryRowIsKnown) {
  for (int at = 1; at < static_cast<int>(Opcode::count); ++at) {
    const std::string name(name_of(static_cast<Opcode>(at)));
    EXPECT_NO_THROW({
      const Mnemonic mnemonic = read_mnemonic(name);
      EXPECT_EQ(mnemonic.opcode, static_cast<Opcode>(at));
      EXPECT_TRUE(mnemonic.unchecked || !mnemonic.syntaxes.empty()) << name;
    });
  }
}

std::string_view opcode_of(const InstructionForm& form) {
  return std::string_view(form.mnemonic).substr(0, form.mnemonic.find('.'));
}

// opcodes.def defines an instruction, and forms.def lists the forms of it that exist.
TEST(OpcodeTable, EveryFormIsOneOfItsRow) {
  for (const InstructionForm& form : instruction_forms()) {
    const OpcodeRow& row = row_of(find_opcode(opcode_of(form)));
    EXPECT_NE(row.family, Family::none) << form.mnemonic;
    EXPECT_EQ(read_mnemonic(form.mnemonic).unsupported, "") << form.mnemonic;
    const bool has_functions = row.functions != 0;
    const bool has_function_elsewhere = row.family == Family::matrix ||
                                        row.family == Family::atomic ||
                                        row.family == Family::cache_control;
    EXPECT_NE(has_functions, has_function_elsewhere) << form.mnemonic;
  }
}

TEST(OpcodeTable, EveryRowThatCalculatesHasForms) {
  std::set<std::string_view> listed;
  for (const InstructionForm& form : instruction_forms()) listed.insert(opcode_of(form));
  for (int at = 1; at < static_cast<int>(Opcode::count); ++at) {
    const OpcodeRow& row = row_of(static_cast<Opcode>(at));
    if (row.functions == 0) continue;
    EXPECT_TRUE(listed.contains(row.name)) << row.name;
  }
}

TEST(OpcodeTable, SourcesHaveTheTypesOfTheirWords) {
  const auto types = [](std::string_view text) {
    const Mnemonic mnemonic = read_mnemonic(text);
    std::vector<Type> all;
    for (std::size_t at = 0; at < 4; ++at) {
      all.push_back(source_type(mnemonic.opcode, mnemonic.modifiers, at));
    }
    return all;
  };
  using enum Type;
  EXPECT_EQ(types("add.u64"), (std::vector{u64, u64, u64, u64}));
  EXPECT_EQ(types("bfi.b64"), (std::vector{b64, b64, u32, u32}));
  EXPECT_EQ(types("mad.wide.s16"), (std::vector{s16, s16, s32, s16}));
  EXPECT_EQ(types("mad.lo.s16"), (std::vector{s16, s16, s16, s16}));
  EXPECT_EQ(types("set.lt.and.u32.f64"), (std::vector{f64, f64, pred, u32}));
  EXPECT_EQ(types("cvt.pack.sat.u8.s32.b32"), (std::vector{s32, s32, b32, u8}));
  EXPECT_EQ(types("vote.sync.any.pred"), (std::vector{pred, b32, pred, pred}));
  EXPECT_EQ(types("match.all.sync.b64"), (std::vector{b64, b32, b64, b64}));
}

// Adding an instruction requires a row, its forms and a function.  Other code may name an opcode
// only if it creates such instructions or depends on their meaning: the decoder composes other
// instructions from it, analyses follow addresses and flags through it, and native code has an
// emitter for it.  Values that travel beside the numbers have a rule for each instruction; without
// one, they are lost or not decided, and the line is told.
TEST(OpcodeTable, AnInstructionIsNamedByItsRowAndItsFunctionsAlone) {
  const std::set<std::string_view> known_elsewhere = {
      "abs",  "add", "addc", "and",  "bfe", "bfi",  "cvt",   "cvta",  "fma",  "lop3", "mad",
      "madc", "max", "min",  "mov",  "mul", "neg",  "not",   "or",    "prmt", "selp", "set",
      "setp", "shl", "shr",  "slct", "sub", "subc", "vadd2", "vadd4", "vmad", "xor"};
  constexpr std::string_view kFoldersOfRules[] = {
      "/check/exact/", "/check/numerics/", "/check/precision/", "/check/shadow/", "/symbolic/"};
  const std::filesystem::path vgpu = std::filesystem::path(WARPCHECK_SOURCE_DIR) / "vgpu";
  std::set<std::string> named_elsewhere;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(vgpu)) {
    const std::string path = entry.path().string();
    const bool is_source = path.ends_with(".cpp") || path.ends_with(".hpp");
    const bool is_of_functions = path.find("/machine/compute/") != std::string::npos;
    // The reference of random programs shares no code with what it checks.
    const bool is_oracle = path.find("/differential/") != std::string::npos;
    const bool is_of_rules = std::ranges::any_of(kFoldersOfRules, [&](std::string_view folder) {
      return path.find(folder) != std::string::npos;
    });
    if (!is_source || path.ends_with("_test.cpp") || is_of_functions || is_oracle || is_of_rules) {
      continue;
    }
    const std::string text = text_of_file(path);
    for (int at = 1; at < static_cast<int>(Opcode::count); ++at) {
      const OpcodeRow& row = row_of(static_cast<Opcode>(at));
      const std::string name = "Opcode::" + std::string(row.name) + "_";
      if (row.functions != 0 && text.find(name) != std::string::npos) {
        named_elsewhere.emplace(row.name);
      }
    }
  }
  EXPECT_EQ(named_elsewhere, std::set<std::string>(known_elsewhere.begin(), known_elsewhere.end()));
}

TEST(Forms, OnesThatNobodyHasRecordedSaySo) {
  const FormRow rows[] = {{"integer", 75, "add.{u32,s32}", "$1 = $1 $1", ""},
                          {"integer", 100, "add.u8", "u8 = u8 u8", "", false}};
  std::vector<bool> recorded;
  for (const InstructionForm& form : expand_forms(rows)) recorded.push_back(form.recorded);
  EXPECT_EQ(recorded, (std::vector{true, true, false}));
}

TEST(Vocabulary, TypesHaveTheirNamesAndSizes) {
  EXPECT_EQ(name_of(Type::pred), "pred");
  EXPECT_EQ(name_of(Type::b128), "b128");
  EXPECT_EQ(name_of(Type::u8), "u8");
  EXPECT_EQ(name_of(Type::s64), "s64");
  EXPECT_EQ(name_of(Type::bf16x2), "bf16x2");
  EXPECT_EQ(name_of(Type::f64), "f64");
  EXPECT_EQ(bytes_of(Type::b128), 16u);
  EXPECT_EQ(bytes_of(Type::f16x2), 4u);
  EXPECT_EQ(bytes_of(Type::pred), 0u);
}

TEST(Vocabulary, SpacesHaveTheirNames) {
  EXPECT_EQ(name_of(Space::generic), "generic");
  EXPECT_EQ(name_of(Space::constant), "const");
  EXPECT_EQ(name_of(Space::param), "param");
}

TEST(Vocabulary, SpecialRegistersAreFoundByTheirNames) {
  for (int at = 1; at <= static_cast<int>(SpecialRegister::warp_size); ++at) {
    const auto reg = static_cast<SpecialRegister>(at);
    EXPECT_EQ(find_special_register(name_of(reg)), reg);
  }
  EXPECT_EQ(name_of(SpecialRegister::tid_x), "%tid.x");
  EXPECT_EQ(name_of(SpecialRegister::nctaid_z), "%nctaid.z");
  EXPECT_EQ(name_of(SpecialRegister::lanemask_gt), "%lanemask_gt");
  EXPECT_EQ(name_of(SpecialRegister::total_smem_size), "%total_smem_size");
  EXPECT_EQ(find_special_register("%tid"), SpecialRegister::none);
}

}  // namespace
}  // namespace warpcheck::ptx
