// Runs the litmus programs of programs/ and compares what is found with what their text expects.
// They are PTX, so that no compiler stands between the sentence and the checker.
#include "vgpu/litmus/tensor_memory/tensor_programs.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "vgpu/check/checkers.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/schedule.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck::litmus {

void PrintTo(const TensorProgram& program, std::ostream* out) { *out << program.name; }

namespace {

constexpr std::uint64_t kStepsMax = 200'000;

std::string text_of(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  }
  return text_of_file(path);
}

std::vector<TensorProgram> all_programs() {
  const std::filesystem::path folder = WARPCHECK_TENSOR_PROGRAMS;
  const TensorDefinitions definitions =
      read_tensor_definitions(text_of(folder / "definitions.txt"), "definitions.txt");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename() != "definitions.txt") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<TensorProgram> all;
  for (const auto& file : files) {
    const std::string name = file.filename().string();
    std::ranges::move(read_tensor_programs(text_of(file), name, definitions),
                      std::back_inserter(all));
  }
  return all;
}

class DefaultPolicy final : public vgpu::Strategy {
 public:
  std::uint64_t next_access(std::uint32_t, vgpu::WarpId, std::uint64_t) override {
    return UINT64_MAX;
  }
  std::optional<vgpu::Choice> decide(const vgpu::SchedulePoint&) override { return std::nullopt; }
};

std::string describe(const vgpu::Finding& finding) {
  std::string text =
      fmt::format("{}{} {} on {}: {}", finding.severity == vgpu::Severity::note ? "note " : "",
                  vgpu::name_of(finding.kind), finding.space, finding.object, finding.message);
  for (const vgpu::AccessSide& side : finding.accesses) {
    text += fmt::format("\n    {} by block {} thread {} at {}:{} {}", side.role, side.block.x,
                        side.thread.x, side.file, side.line, side.ptx);
  }
  return text;
}

class TensorProgramsTest : public testing::TestWithParam<TensorProgram> {
 protected:
  static std::vector<vgpu::Finding> findings_of(const TensorProgram& text) {
    vgpu::Program program = vgpu::decode(ptx::parse(text.ptx, text.file), text.name);
    link(program);
    vgpu::DeviceMemory memory;
    vgpu::Machine machine(memory);
    vgpu::Checkers checkers({}, vgpu::WarpModel::independent);
    constexpr std::uint32_t kBytes = 4096;
    const std::uint64_t out = memory.allocate(kBytes)->address;
    vgpu::Launch launch;
    launch.program = &program;
    launch.grid = launch.cluster = {text.blocks, 1, 1};
    launch.explicit_cluster = text.blocks > 1;
    launch.block = {text.threads, 1, 1};
    launch.parameters = std::as_bytes(std::span(&out, 1));
    vgpu::Limits limits;
    limits.steps_max = kStepsMax;
    limits.look_after = 2'048;
    DefaultPolicy policy;
    const vgpu::Outcome outcome =
        machine.run(launch, vgpu::WarpModel::independent, policy, checkers.observers(), limits);
    EXPECT_EQ(outcome.refusal, "");
    return checkers.findings();
  }
};

TEST_P(TensorProgramsTest, FindsWhatItsTextExpects) {
  const TensorProgram& program = GetParam();
  std::set<std::string> found;
  std::set<std::pair<std::uint32_t, std::string>> marks;
  std::string report;
  bool has_words = program.words.empty();
  for (const vgpu::Finding& finding : findings_of(program)) {
    found.insert(fmt::format("{}{}{}{}", finding.severity == vgpu::Severity::note ? "note " : "",
                             vgpu::name_of(finding.kind), finding.space.empty() ? "" : " ",
                             finding.space));
    report += "\n  " + describe(finding);
    has_words |= finding.message.find(program.words) != std::string::npos;
    for (const vgpu::AccessSide& side : finding.accesses) marks.emplace(side.line, side.role);
  }
  EXPECT_EQ(found, program.findings) << report;
  if (!program.findings.empty()) EXPECT_EQ(marks, program.marks) << report;
  EXPECT_TRUE(has_words) << report << "\n  no message says: " << program.words;
}

std::string name_of(const testing::TestParamInfo<TensorProgram>& test) { return test.param.name; }

INSTANTIATE_TEST_SUITE_P(All, TensorProgramsTest, testing::ValuesIn(all_programs()), name_of);

TEST(TensorProgramsTextTest, NamesAreUniqueAndFaultsHaveCleanTwins) {
  std::set<std::string> names;
  std::size_t faults = 0, clean = 0;
  for (const TensorProgram& program : all_programs()) {
    EXPECT_TRUE(names.insert(program.name).second) << program.name;
    EXPECT_FALSE(program.sentences.empty()) << program.name;
    ++(program.findings.empty() ? clean : faults);
  }
  RecordProperty("faults", static_cast<int>(faults));
  RecordProperty("clean", static_cast<int>(clean));
}

constexpr std::string_view kDefinitions =
    "define prologue\n.reg .b32 %thread;\ndefine add TO, WHAT\nadd.u32 TO, TO, WHAT;\n"
    "LUNIQUE:\n";

TEST(TensorProgramsTextTest, ExpandsDefinitionsAndChangesLines) {
  const auto definitions = read_tensor_definitions(kDefinitions, "d");
  const auto programs = read_tensor_programs(
      "program one blocks 2\n\"A rule.\" 9.7.1\n  a: add %x, 1\n  thread 0 {\n  b: bar.sync 0;\n"
      "  }\nclean\nfault two: a = add %y, 2 ; add %y, 3 & without b -> leak tensor + trap: "
      "host write a says \"so\"\n\"Another.\" 9.7.2\n",
      "f", definitions);
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[0].blocks, 2u);
  EXPECT_NE(programs[0].ptx.find(".loc 1 3 0\nadd.u32 %x, %x, 1;\nL1:\n"), std::string::npos)
      << programs[0].ptx;
  EXPECT_NE(programs[0].ptx.find("setp.ne.u32 %only, %thread, 0;"), std::string::npos);
  EXPECT_NE(programs[1].ptx.find("add.u32 %y, %y, 2;\nL1:\nadd.u32 %y, %y, 3;\nL2:\n"),
            std::string::npos)
      << programs[1].ptx;
  EXPECT_EQ(programs[1].ptx.find("bar.sync"), std::string::npos);
  EXPECT_EQ(programs[1].findings, (std::set<std::string>{"leak tensor", "trap"}));
  EXPECT_EQ(programs[1].marks,
            (std::set<std::pair<std::uint32_t, std::string>>{{3, "host write"}}));
  EXPECT_EQ(programs[1].words, "so");
  EXPECT_EQ(programs[1].sentences, std::vector<std::string>{"\"Another.\" 9.7.2"});
}

TEST(TensorProgramsTextTest, RefusesWhatItCannotRead) {
  const auto definitions = read_tensor_definitions(kDefinitions, "d");
  const auto read = [&](std::string_view text) {
    return read_tensor_programs(text, "f", definitions);
  };
  EXPECT_THROW(read("program a\n  x\nclean\n"), std::runtime_error);  // no sentence
  const std::string head = "program a\n\"A rule.\" 9.7.1\n";
  EXPECT_THROW(read(head + "  what 3\nclean\n"), std::runtime_error);
  EXPECT_THROW(read(head + "  add %x\nclean\n"), std::runtime_error);
  EXPECT_THROW(read(head + "  thread 0 {\nclean\n"), std::runtime_error);
  EXPECT_THROW(read(head + "fault b: without c -> trap\n"), std::runtime_error);
  EXPECT_THROW(read(head + "fault b: without c\n"), std::runtime_error);
  EXPECT_THROW(read_tensor_definitions("bar.sync 0;\n", "d"), std::runtime_error);
}

}  // namespace
}  // namespace warpcheck::litmus
