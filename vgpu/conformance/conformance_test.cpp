// Replays every recorded vector on the virtual GPU, family by family.
//
// Exact forms must agree to the bit.  Of approximate ones both the recorded and the virtual GPU's
// results must be within the error that the ISA allows.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "vgpu/conformance/approximation.hpp"
#include "vgpu/conformance/kernel_text.hpp"
#include "vgpu/conformance/operands.hpp"
#include "vgpu/conformance/recording.hpp"
#include "vgpu/conformance/replay.hpp"

namespace warpcheck::conformance {
namespace {

using ptx::InstructionForm;

constexpr std::size_t kVectorsMin = 2000;            // of each form
constexpr std::size_t kExactVectorsMin = 1'000'000;  // in all
const std::filesystem::path kVectors =
    std::filesystem::path(WARPCHECK_SOURCE_DIR) / "vgpu/conformance/vectors";

std::set<std::string> recorded_families() {
  std::set<std::string> names;
  for (const InstructionForm& form : ptx::instruction_forms()) {
    if (form.family != "address") names.insert(form.family);
  }
  return names;
}

Recording recording_of(const std::string& family) {
  return unpack(read_file(kVectors / (family + ".vectors")), ptx::instruction_forms());
}

const InstructionForm& form_of(const std::string& text) {
  const auto& forms = ptx::instruction_forms();
  return *std::ranges::find(forms, text, &InstructionForm::text);
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
    EXPECT_GE(recorded.count, kVectorsMin) << recorded.text;
    EXPECT_EQ(form_of(recorded.text).family, GetParam()) << recorded.text;
    have.insert(recorded.text);
  }
  for (const InstructionForm& form : ptx::instruction_forms()) {
    if (form.family != GetParam()) continue;
    EXPECT_TRUE(have.contains(form.text)) << form.text << " has no vectors: record again";
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, Family, testing::ValuesIn(recorded_families()),
                         [](const auto& family) { return family.param; });

TEST(Vectors, AreEnough) {
  std::size_t exact = 0;
  for (const std::string& family : recorded_families()) {
    if (family == "approximate") continue;
    for (const Recorded& recorded : recording_of(family).forms) exact += recorded.count;
  }
  EXPECT_GE(exact, kExactVectorsMin);
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

// The comparison must be able to fail.
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
