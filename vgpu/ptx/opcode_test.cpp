// The tables of the vocabulary agree with each other.
#include "vgpu/ptx/opcode.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "vgpu/ptx/mnemonic.hpp"

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
      EXPECT_TRUE(mnemonic.unchecked || !mnemonic.forms.empty()) << name;
    });
  }
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
