// Replays every recorded vector on the virtual GPU, family by family.
//
// Exact forms must agree to the bit.  For approximate forms, both the recorded results and those of
// the virtual GPU must be within the error that the ISA allows.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "vgpu/conformance/approximation.hpp"
#include "vgpu/conformance/kernel_text.hpp"
#include "vgpu/conformance/operands.hpp"
#include "vgpu/conformance/recording.hpp"
#include "vgpu/conformance/replay.hpp"
#include "vgpu/conformance/sequences.hpp"
#include "vgpu/conformance/supported_ptx.hpp"
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/opcode_row.hpp"

namespace warpcheck::conformance {
namespace {

using ptx::InstructionForm;

constexpr std::size_t kVectorsMin = 2000;         // of each form
constexpr std::size_t kSequenceVectorsMin = 750;  // of each sequence
constexpr std::size_t kSequencesMin = 300;
constexpr std::size_t kExactVectorsMin = 1'000'000;  // in all
const std::filesystem::path kVectors =
    std::filesystem::path(WARPCHECK_SOURCE_DIR) / "vgpu/conformance/vectors";

std::set<std::string> recorded_families() {
  std::set<std::string> names;
  for (const InstructionForm& form : recorded_forms()) names.insert(form.family);
  return names;
}

Recording recording_of(const std::string& family) {
  return unpack(read_file(kVectors / (family + ".vectors")), recorded_forms());
}

const InstructionForm& form_of(const std::string& text) {
  static const auto forms = [] {
    std::unordered_map<std::string_view, const InstructionForm*> by_text;
    for (const InstructionForm& form : recorded_forms()) by_text.emplace(form.text, &form);
    return by_text;
  }();
  return *forms.at(text);
}

class Family : public testing::TestWithParam<std::string> {};

TEST_P(Family, AgreesWithTheRecordedGpu) {
  const Recording recording = recording_of(GetParam());
  const bool approximate = GetParam() == "approximate";
  for (const Recorded& recorded : recording.forms) {
    const InstructionForm& form = form_of(recorded.text);
    const Comparison comparison = compare(form, recorded);
    ASSERT_EQ(comparison.refusal, "") << form.text;
    if (approximate) continue;
    EXPECT_EQ(comparison.differences, 0u)
        << form.text << " of " << comparison.vectors << " vectors: " << comparison.first;
  }
}

// A form without vectors and vectors without a form are both mistakes.
TEST_P(Family, IsRecordedFormByForm) {
  const Recording recording = recording_of(GetParam());
  std::set<std::string> have;
  for (const Recorded& recorded : recording.forms) {
    const bool is_composed = is_sequence(form_of(recorded.text));
    EXPECT_GE(recorded.count, is_composed ? kSequenceVectorsMin : kVectorsMin) << recorded.text;
    EXPECT_EQ(form_of(recorded.text).family, GetParam()) << recorded.text;
    have.insert(recorded.text);
  }
  for (const InstructionForm& form : recorded_forms()) {
    if (form.family != GetParam()) continue;
    EXPECT_TRUE(have.contains(form.text)) << form.text << " has no vectors: record again";
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, Family, testing::ValuesIn(recorded_families()),
                         [](const auto& family) { return family.param; });

// A form that has been recorded must no longer be marked UNRECORDED.
TEST(Forms, ThatNobodyHasRecordedAreNamed) {
  std::set<std::string> recorded;
  for (const std::string& family : recorded_families()) {
    for (const Recorded& form : recording_of(family).forms) recorded.insert(form.text);
  }
  for (const InstructionForm& form : ptx::instruction_forms()) {
    if (form.recorded) continue;
    fmt::print("unrecorded: {}\n", form.text);
    EXPECT_FALSE(recorded.contains(form.text)) << form.text << " is marked as unrecorded";
    EXPECT_NO_THROW(execute(form)) << form.text;
  }
}

vgpu::ComputeFn function_in(ptx::FunctionFile file, const vgpu::Instr& instr) {
  using namespace vgpu;
  using Find = ComputeFn (*)(const Instr&);
  static constexpr Find kFiles[] = {baseline::find_carry,
                                    baseline::find_integer,
                                    baseline::find_bits,
                                    baseline::find_compare,
                                    baseline::find_move,
                                    baseline::find_float,
                                    baseline::find_half,
                                    baseline::find_approximate,
                                    baseline::find_convert,
                                    portable::find_exact,
                                    portable::find_half_approximate,
                                    baseline::find_half_compare,
                                    portable::find_packed,
                                    portable::find_video};
  return kFiles[static_cast<std::size_t>(file)](instr);
}

// A row of opcodes.def must name exactly the files that have functions for its forms.
TEST(Forms, HaveFunctionsInTheFilesThatTheirRowNames) {
  std::map<ptx::Opcode, std::uint16_t> used;
  for (const InstructionForm& form : ptx::instruction_forms()) {
    const std::string opcode = form.mnemonic.substr(0, form.mnemonic.find('.'));
    if (ptx::row_of(ptx::find_opcode(opcode)).functions == 0) continue;
    const std::string text = module_head(form.target) + kernel_text(form, "form");
    for (const vgpu::Instr& instr : vgpu::decode(ptx::parse(text, form.text), "form").code) {
      const ptx::OpcodeRow& row = ptx::row_of(instr.opcode);
      if (instr.kind != vgpu::InstrKind::compute || row.name != opcode) continue;
      for (unsigned at = 0; at < static_cast<unsigned>(ptx::FunctionFile::count); ++at) {
        const auto file = static_cast<ptx::FunctionFile>(at);
        if ((row.functions >> at & 1u) == 0) continue;
        if (function_in(file, instr) == nullptr) continue;
        used[instr.opcode] = static_cast<std::uint16_t>(used[instr.opcode] | 1u << at);
        break;
      }
    }
  }
  for (int at = 1; at < static_cast<int>(ptx::Opcode::count); ++at) {
    const ptx::OpcodeRow& row = ptx::row_of(static_cast<ptx::Opcode>(at));
    for (unsigned file = 0; file < static_cast<unsigned>(ptx::FunctionFile::count); ++file) {
      const bool is_named = (row.functions >> file & 1u) != 0;
      const bool is_used = (used[static_cast<ptx::Opcode>(at)] >> file & 1u) != 0;
      EXPECT_EQ(is_named, is_used)
          << row.name << " in " << ptx::name_of(static_cast<ptx::FunctionFile>(file));
    }
  }
}

TEST(Vectors, AreEnough) {
  std::size_t exact = 0;
  for (const std::string& family : recorded_families()) {
    if (family == "approximate") continue;
    for (const Recorded& recorded : recording_of(family).forms) exact += recorded.count;
  }
  EXPECT_GE(exact, kExactVectorsMin);
  EXPECT_GE(sequences().size(), kSequencesMin);
}

// The sequences contain every pair of an instruction that writes the carry flag and one that reads
// it next.
TEST(Sequences, HandOnTheCarryFlagFromEveryProducerToEveryConsumer) {
  const auto is_handed_on = [](const std::string& producer, const std::string& consumer) {
    return std::ranges::any_of(sequences(), [&](const InstructionForm& form) {
      const std::size_t at = form.text.find(" " + producer + ".");
      if (at == std::string::npos) return false;
      const std::size_t next = form.text.find("; ", at) + 2;
      return form.text.compare(next, consumer.size(), consumer) == 0;
    });
  };
  for (const std::string producer : {"add.cc", "sub.cc", "addc.cc", "subc.cc", "mad.lo.cc",
                                     "mad.hi.cc", "madc.lo.cc", "madc.hi.cc"}) {
    for (const std::string consumer : {"addc.cc.", "subc.cc.", "madc.lo.cc.", "madc.hi.cc."}) {
      for (const std::string bits : {"32", "64"}) {
        const bool is_there = is_handed_on(producer, consumer + "s" + bits) ||
                              is_handed_on(producer, consumer + "u" + bits);
        EXPECT_TRUE(is_there) << producer << " before " << consumer << bits;
      }
    }
  }
}

TEST(Vectors, HoldEverySpecialValueAgainstEveryOther) {
  const std::vector<std::string> types = {"f32", "u16", "f32", "b64"};
  const OperandTable operands = make_operands(types);
  for (std::size_t x = 0; x < types.size(); ++x) {
    for (std::size_t y = x + 1; y < types.size(); ++y) {
      std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
      for (std::size_t i = 0; i < operands[x].size(); ++i) {
        pairs.insert({operands[x][i], operands[y][i]});
      }
      for (const std::uint64_t a : special_values(types[x])) {
        for (const std::uint64_t b : special_values(types[y])) {
          EXPECT_TRUE(pairs.contains({a, b})) << x << " " << y;
        }
      }
    }
  }
}

// Tests that the comparison can fail.
TEST(Vectors, ShowOperandsAndBothResultsOfADifference) {
  Recording recording = recording_of("float");
  const auto recorded = std::ranges::find(recording.forms, "add.f32 d, a, b;", &Recorded::text);
  ASSERT_NE(recorded, recording.forms.end());
  const OperandTable operands = make_operands(form_of(recorded->text).sources);
  recorded->values[100] ^= 1;
  const Comparison comparison = compare(form_of(recorded->text), *recorded);
  EXPECT_EQ(comparison.differences, 1u);
  EXPECT_EQ(comparison.first,
            fmt::format("a={:#x} b={:#x} -> {:#x} (recorded {:#x})", operands[0][100],
                        operands[1][100], recorded->values[100] ^ 1, recorded->values[100]));
}

TEST(Approximations, KeepWhatTheIsaPromises) {
  for (const Recorded& recorded : recording_of("approximate").forms) {
    const InstructionForm& form = form_of(recorded.text);
    const OperandTable operands = make_operands(form.sources);
    const std::vector<std::uint64_t> got = execute(form);
    std::size_t judged = 0;
    for (std::size_t i = 0; i < recorded.count; ++i) {
      std::vector<std::uint64_t> vector;
      for (const auto& column : operands) vector.push_back(column[i]);
      const auto share = error_share(form, vector, got[i]);
      const auto recorded_share = error_share(form, vector, recorded.values[i]);
      if (!share) continue;
      ++judged;
      EXPECT_LE(*share, 1.0) << fmt::format("{} a={:#x} -> {:#x}", form.text, vector[0], got[i]);
      EXPECT_LE(*recorded_share, 1.0)
          << fmt::format("recorded: {} a={:#x} -> {:#x}", form.text, vector[0], recorded.values[i]);
    }
    EXPECT_GE(judged, recorded.count / 3) << form.text;
  }
}

// Returns every mnemonic that the suffixes of a row of opcodes.def allow, as far as the row names
// them.
std::vector<std::string> all_mnemonics(const ptx::OpcodeRow& row) {
  std::vector<std::string> mnemonics = {std::string(row.name)};
  const std::string classes = " " + std::string(row.modifiers) + " ";
  const auto extend = [&](std::string_view name, const std::vector<std::string>& suffixes) {
    if (classes.find(" " + std::string(name)) == std::string::npos) return;
    const std::vector<std::string> before = mnemonics;
    for (const std::string& suffix : suffixes) {
      for (const std::string& mnemonic : before) mnemonics.push_back(mnemonic + suffix);
    }
  };
  std::vector<std::string> types;
  for (int at = static_cast<int>(ptx::Type::pred); at <= static_cast<int>(ptx::Type::f64); ++at) {
    types.push_back("." + std::string(ptx::name_of(static_cast<ptx::Type>(at))));
  }
  extend("part", {".lo", ".hi", ".wide"});
  extend("compare!", {".lt", ".equ", ".lo"});
  extend("boolop", {".xor"});
  extend("rounding", {".rn", ".rz", ".rna", ".rni", ".rpi"});
  extend("approx", {".approx", ".full"});
  extend("ftz", {".ftz"});
  extend("sat ", {".sat"});
  extend("type", types);
  extend("types ", types);
  extend("types3", types);
  extend("types?", {".f16", ".s32"});
  return mnemonics;
}

// Forms that a row of opcodes.def allows and forms.def does not list are refused by name.
TEST(SupportedPtx, EverythingElseIsRefused) {
  std::set<std::string_view> calculated;
  for (const InstructionForm& form : ptx::instruction_forms()) {
    if (form.family == "atomic") continue;  // no compute instructions
    calculated.insert(std::string_view(form.mnemonic).substr(0, form.mnemonic.find('.')));
  }
  std::size_t refused = 0;
  for (std::size_t at = 1; at < static_cast<std::size_t>(ptx::Opcode::count); ++at) {
    const ptx::OpcodeRow& row = ptx::row_of(static_cast<ptx::Opcode>(at));
    if (!calculated.contains(row.name) || row.modifiers == "any") continue;
    for (const std::string& mnemonic : all_mnemonics(row)) {
      if (ptx::has_form(mnemonic)) continue;
      const InstructionForm form{"", 90, mnemonic, {"b32"}, {"b32"}, mnemonic + " d, a;"};
      EXPECT_THROW(execute(form), vgpu::Refusal) << mnemonic;
      ++refused;
    }
  }
  EXPECT_GT(refused, 5000u);
}

TEST(SupportedPtx, HasItsPageInTheDocumentation) {
  const std::filesystem::path page = kVectors / "../../../docs/use/supported-ptx.md";
  EXPECT_EQ(read_file(page), supported_ptx())
      << "conformance_record --supported > docs/use/supported-ptx.md";
}

TEST(Recordings, ComeBackFromTheirFiles) {
  const InstructionForm& wide = form_of("add.u64 d, a, b;");
  const InstructionForm& flag = form_of("setp.eq.b16 d|e, a, b;");
  Recording recording{"some GPU", {}};
  recording.forms.push_back({wide.text, 2, {0x0123456789abcdef, ~std::uint64_t{0}}});
  recording.forms.push_back({wide.text, 2, {0x0123456789abcdee, ~std::uint64_t{0}}});
  recording.forms.push_back({flag.text, 3, {0, 1, 1, 1, 0, 0}});
  const Recording back = unpack(pack(recording, {wide, flag}), {wide, flag});
  EXPECT_EQ(back.device, recording.device);
  ASSERT_EQ(back.forms.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(back.forms[i].values, recording.forms[i].values);
  EXPECT_THROW(unpack(pack(recording, {wide, flag}), {wide}), RecordingError);
  EXPECT_THROW(unpack("no recording", {wide, flag}), RecordingError);
}

}  // namespace
}  // namespace warpcheck::conformance
