#include "harness/case/case_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "harness/case/stored_cases.hpp"
#include "harness/search/replay.hpp"
#include "harness/testing/fake_engine.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = R"({
 "warpcheck_case": 1,
 "pair": "fake_scan_published",
 "input": {
  "values": [
   1,
   0,
   0
  ],
  "launch": {
   "grid": [
    1,
    1,
    1
   ],
   "block": [
    3,
    1,
    1
   ],
   "shared_bytes": 0
  }
 },
 "schedule": [
  {
   "launch": 0,
   "block": 0,
   "warp": 0,
   "access": 0,
   "held": "0x00000004",
   "next_block": 0,
   "next_warp": 0
  }
 ],
 "settings": {
  "build": "optimized",
  "warp_model": "independent",
  "checkers": [
   "race",
   "bounds",
   "init",
   "barrier",
   "lifetime"
  ],
  "steps_max": 20000000,
  "quantum": 4096,
  "resident_blocks": 32
 },
 "ptx_hash": "0000000000001234",
 "expected": {
  "kinds": [
   "data-race",
   "mismatch"
  ],
  "classes": [
   "00000000000000aa",
   "00000000000000bb"
  ]
 },
 "tape": "00ff"
}
)";

CaseRecord parse(const std::string& text) { return parse_case(text, "x.case", Registry::global()); }

// The message for kText with one part of it replaced.
std::string error_of(const std::string& from, const std::string& to) {
  std::string text = kText;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    static_cast<void>(parse(text));
  } catch (const CaseFileError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "(no error)";
}

TEST(CaseFile, RoundTripsToTheByte) { EXPECT_EQ(case_text(parse(kText)), kText); }

TEST(CaseFile, VolatileAccessesAreNamedWhereTheyAreWeak) {
  std::string text = kText;
  const std::string model = "  \"warp_model\": \"independent\",\n";
  text.insert(text.find(model) + model.size(), "  \"volatile\": \"weak\",\n");
  const CaseRecord record = parse(text);
  EXPECT_TRUE(record.a_case.settings.checkers.volatile_is_weak);
  EXPECT_EQ(case_text(record), text);
  EXPECT_EQ(settings_summary(record.a_case.settings), "volatile accesses weak");
  EXPECT_FALSE(same_settings(record.a_case.settings, parse(kText).a_case.settings));
}

TEST(CaseFile, NotesOnPortabilityAreNamedWhereTheyAreOn) {
  std::string text = kText;
  const std::string before = "  \"steps_max\": 20000000,\n";
  text.insert(text.find(before), "  \"portable\": true,\n");
  const CaseRecord record = parse(text);
  EXPECT_TRUE(record.a_case.settings.checkers.portable);
  EXPECT_EQ(case_text(record), text);
  EXPECT_EQ(settings_summary(record.a_case.settings), "portable");
  EXPECT_FALSE(same_settings(record.a_case.settings, parse(kText).a_case.settings));
}

TEST(CaseFile, ReadsEveryField) {
  const CaseRecord record = parse(kText);
  EXPECT_EQ(record.a_case.title(), "fake_scan_published");
  EXPECT_EQ(record.ptx_hash, 0x1234u);
  EXPECT_EQ(show_kinds(record.kinds), "data-race, mismatch");
  EXPECT_EQ(record.classes, (std::vector<std::string>{"00000000000000aa", "00000000000000bb"}));
  EXPECT_EQ(record.a_case.tape, (std::vector<std::uint8_t>{0x00, 0xff}));
  const auto& schedule = std::get<vgpu::Schedule>(record.a_case.schedule);
  ASSERT_EQ(schedule.decisions.size(), 1u);
  EXPECT_EQ(schedule.decisions[0].held, 4u);
}

TEST(CaseFile, KeepsSettingsPoliciesPropertiesAndStops) {
  CaseRecord record = parse(kText);
  record.a_case.pair = Registry::global().find("fake_clean");
  record.a_case.property = "keeps_its_length";
  record.a_case.settings.build = cudart::Build::unoptimized;
  record.a_case.settings.warp_model = vgpu::WarpModel::lockstep;
  record.a_case.settings.checkers.init = false;
  record.a_case.settings.limits.quantum = 7;
  record.a_case.schedule = StrategyChoice{.name = "pct", .seed = 9};
  const CaseRecord again = parse(case_text(record));
  EXPECT_EQ(again.a_case.property, "keeps_its_length");
  EXPECT_TRUE(same_settings(again.a_case.settings, record.a_case.settings));
  EXPECT_EQ(again.a_case.schedule, record.a_case.schedule);
  vgpu::Schedule stops;
  stops.decisions.push_back({.launch = 2,
                             .at = {3, 4},
                             .point = vgpu::Decision::Point::stop,
                             .index = 5,
                             .held = 0,
                             .next = {6, 7}});
  stops.decisions.push_back({.launch = 0,
                             .at = {4, 0},
                             .point = vgpu::Decision::Point::operation,
                             .index = 1,
                             .held = 0,
                             .next = {9, 0}});
  stops.decisions.push_back({.launch = 1,
                             .at = {},
                             .point = vgpu::Decision::Point::start,
                             .index = 1,
                             .held = 0,
                             .next = {7, 3}});
  stops.decisions.push_back({.launch = 2,
                             .at = {3, 4},
                             .point = vgpu::Decision::Point::release,
                             .index = 9,
                             .held = 0,
                             .next = {6, 7}});
  stops.decisions.push_back({.launch = 2,
                             .at = {3, 4},
                             .point = vgpu::Decision::Point::past,
                             .index = 11,
                             .held = 0x80000001,
                             .next = {2, 0}});
  stops.decisions.push_back({.launch = 2,
                             .at = {3, 4},
                             .point = vgpu::Decision::Point::fence,
                             .index = 12,
                             .held = 0x80000001,
                             .next = {3, 4}});
  record.a_case.schedule = stops;
  EXPECT_EQ(std::get<vgpu::Schedule>(parse(case_text(record)).a_case.schedule), stops);
}

TEST(CaseFile, AStartIsAscendingOrDescending) {
  CaseRecord record = parse(kText);
  vgpu::Decision start;
  start.point = vgpu::Decision::Point::start;
  start.next = {2, 1};
  record.a_case.schedule = vgpu::Schedule{{start}};
  std::string text = case_text(record);
  EXPECT_NE(text.find("\"start\": \"ascending\""), std::string::npos) << text;
  text.replace(text.find("ascending"), 9, "sideways");
  try {
    parse(text);
    FAIL();
  } catch (const CaseFileError& error) {
    EXPECT_NE(std::string(error.what()).find("expected ascending or descending"), std::string::npos)
        << error.what();
  }
}

TEST(CaseFile, EveryKindOfDamageIsOneClearLine) {
  EXPECT_EQ(error_of("\"warpcheck_case\": 1", "\"warpcheck_case\": 2"),
            "x.case: case format version 2, but this warpcheck reads version 1");
  EXPECT_EQ(error_of("\"warpcheck_case\": 1", "\"something\": 1"),
            "x.case: not a warpcheck case (no \"warpcheck_case\")");
  EXPECT_EQ(error_of("\"fake_scan_published\"", "\"fake_scan_publishe\""),
            "x.case: no pair 'fake_scan_publishe' in this program (is it 'fake_scan_published'?)");
  EXPECT_EQ(error_of("\"fake_scan_published\"", "\"zzzzzzzzzzzzzzzzzzzz\""),
            "x.case: no pair 'zzzzzzzzzzzzzzzzzzzz' in this program");
  EXPECT_EQ(error_of("\"pair\"", "\"property\": \"none\", \"pair\""),
            "x.case: no property 'fake_scan_published.none'");
  EXPECT_EQ(error_of("    3,\n    1,", "    2,\n    1,"),
            "x.case: the input is outside the domain of pair 'fake_scan_published'");
  EXPECT_EQ(error_of("\"schedule\"", "\"schedul\""), "x.case: case.schedule: missing");
  EXPECT_EQ(error_of("\"tape\"", "\"tap\""), "x.case: case.tap: no such field");
  EXPECT_NE(error_of("\"00ff\"", "\"0\"").find("case.tape: expected bytes as hex digits"),
            std::string::npos);
  EXPECT_NE(error_of("\"independent\"", "\"sideways\"")
                .find("case.settings.warp_model: expected one of independent, lockstep"),
            std::string::npos);
  EXPECT_NE(error_of("\"0x00000004\"", "\"four\"").find("case.schedule[0].held: expected a lane"),
            std::string::npos);
  EXPECT_NE(error_of("\"held\"", "\"hold\"").find("case.schedule[0].held: missing"),
            std::string::npos);
  EXPECT_NE(error_of("\"data-race\"", "\"date-race\"").find("expected a finding kind"),
            std::string::npos);
  EXPECT_NE(
      error_of("   1,\n   0,", "   \"x\",\n   0,").find("input.values[0]: expected an integer"),
      std::string::npos);
  EXPECT_NE(error_of("\"quantum\": 4096", "\"quantum\": 0").find("must be at least 1"),
            std::string::npos);
  EXPECT_EQ(
      error_of("{", ""),
      "x.case: not valid JSON: line 2, column 18: syntax error while parsing value - unexpected "
      "':'; expected end of input");
  EXPECT_EQ(error_of(kText, ""), "x.case: the file is empty");
  EXPECT_EQ(error_of(kText,
                     "\x7f"
                     "ELF\x02"),
            "x.case: a program, not a case: programs are run by warpcheck exec -- x.case");
}

TEST(CaseFile, ForeignBytesAreRefused) {
  for (const std::string text : {"", "null", "[]", "42", "\xff\xfe", "{\"a\": 1}", "{"}) {
    EXPECT_THROW(static_cast<void>(parse(text)), CaseFileError) << text;
  }
  EXPECT_THROW(static_cast<void>(parse(std::string(100'000, '['))), CaseFileError);
}

TEST(CaseFile, EveryTruncationIsRefused) {
  const std::string text = kText;
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_THROW(static_cast<void>(parse(text.substr(0, length))), CaseFileError) << length;
  }
}

class CaseDirectory : public testing::Test {
 protected:
  const TemporaryDirectory temporary_;
  const fs::path directory_ = temporary_.path();
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_F(CaseDirectory, WritesAtomicallyAndReadsBack) {
  const fs::path path = directory_ / "deep" / "er" / "x.case";
  write_case(path, parse(kText));
  write_case(path, parse(kText));
  EXPECT_EQ(case_text(read_case(path, Registry::global())), kText);
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);
}

// A failure that another seed finds again is the same case, although other choices drew it.
TEST_F(CaseDirectory, LeavesACaseAloneThatDiffersInItsTapeOnly) {
  FakeEngine engine;
  Case a_case = parse(kText).a_case;
  Verdict verdict = TrialRunner(engine).run(a_case);
  a_case.tape = {1, 2, 3};
  const fs::path path = keep_case(directory_, a_case, verdict);
  EXPECT_EQ(path, directory_ / case_file_name(a_case, verdict));
  const std::string first = text_of(path);
  EXPECT_EQ(first, case_text(record_of(a_case, verdict)));
  a_case.tape = {4, 5};
  EXPECT_EQ(keep_case(directory_, a_case, verdict), path);
  EXPECT_EQ(text_of(path), first);

  verdict.ptx_hash ^= 1;
  EXPECT_EQ(keep_case(directory_, a_case, verdict), path);
  EXPECT_EQ(text_of(path), case_text(record_of(a_case, verdict)));
}

TEST_F(CaseDirectory, NoFileOfAnotherFailureIsWrittenOver) {
  FakeEngine engine;
  const Case a_case = parse(kText).a_case;
  const Verdict verdict = TrialRunner(engine).run(a_case);
  const fs::path short_name = directory_ / case_file_name(a_case, verdict);
  Verdict other = verdict;
  other.findings.front().kernel = "another";
  const std::string others = case_text(record_of(a_case, other));
  std::ofstream(short_name) << others;
  const fs::path longer = keep_case(directory_, a_case, verdict);
  EXPECT_EQ(longer, directory_ / case_file_name(a_case, verdict, 5));
  EXPECT_EQ(text_of(short_name), others);
  EXPECT_EQ(text_of(longer), case_text(record_of(a_case, verdict)));
  // It keeps its name, even if the shorter one is free.
  EXPECT_EQ(keep_case(directory_, a_case, verdict), longer);
  fs::remove(short_name);
  EXPECT_EQ(keep_case(directory_, a_case, verdict), longer);
  EXPECT_FALSE(fs::exists(short_name));

  std::ofstream(short_name) << "notes";
  std::ofstream(longer) << "damaged";
  EXPECT_EQ(keep_case(directory_, a_case, verdict),
            directory_ / case_file_name(a_case, verdict, 6));
  EXPECT_EQ(text_of(short_name), "notes");
}

TEST_F(CaseDirectory, OtherSettingsAreAnotherFailure) {
  FakeEngine engine;
  Case a_case = parse(kText).a_case;
  const Verdict verdict = TrialRunner(engine).run(a_case);
  const fs::path path = directory_ / case_file_name(a_case, verdict);
  Case lockstep = a_case;
  lockstep.settings.warp_model = vgpu::WarpModel::lockstep;
  std::ofstream(path) << case_text(record_of(lockstep, verdict));
  EXPECT_NE(keep_case(directory_, a_case, verdict), path);
}

TEST_F(CaseDirectory, StoredCasesThatCannotBeReadAreNotNone) {
  EXPECT_EQ(stored_cases(directory_, "scan"), std::vector<std::string>{});
  fs::create_directories(directory_ / "cases" / "scan" / "a.case");
  std::ofstream(directory_ / "cases" / "sum") << "x";
  EXPECT_EQ(stored_cases(directory_, "scan"),
            std::vector<std::string>{(directory_ / "cases/scan/a.case").string()});
  for (const fs::path& path : {fs::path("sum"), fs::path("sum") / "below"}) {
    try {
      static_cast<void>(stored_cases(directory_, path.string()));
      ADD_FAILURE() << "no error";
    } catch (const CaseFileError& error) {
      EXPECT_EQ(error.what(),
                "cannot read " + (directory_ / "cases" / path).string() + ": Not a directory");
    }
  }
}

TEST_F(CaseDirectory, AppendsToWhatIsOpenAlready) {
  // A path like /dev/stdout; no file in /proc can be replaced by renaming.
  const fs::path path = directory_ / "out.txt";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0666);
  ASSERT_EQ(::write(file, "before ", 7), 7);
  write_file_atomically(fmt::format("/proc/self/fd/{}", file), "after");
  ::close(file);
  EXPECT_EQ(text_of(path), "before after");
}

TEST_F(CaseDirectory, FollowsLinks) {
  const fs::path target = directory_ / "target", link = directory_ / "link";
  fs::create_symlink("target", link);
  write_file_atomically(link, "new");
  write_file_atomically(link, "newer");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(text_of(target), "newer");

  fs::create_symlink("round", directory_ / "round");
  EXPECT_THROW(write_file_atomically(directory_ / "round", "text"), CaseFileError);
}

TEST_F(CaseDirectory, NamesTheFileThatCannotBeReadOrWritten) {
  try {
    static_cast<void>(read_case(directory_ / "none.case", Registry::global()));
    FAIL();
  } catch (const CaseFileError& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot read " + (directory_ / "none.case").string() + ": No such file or directory");
  }
  EXPECT_THROW(static_cast<void>(read_case(directory_, Registry::global())), CaseFileError);
  std::ofstream(directory_ / "file") << "x";
  EXPECT_THROW(write_case(directory_ / "file" / "x.case", parse(kText)), CaseFileError);
  EXPECT_THROW(write_file_atomically("/dev/full/x", "text"), CaseFileError);
}

TEST(CaseFileName, DependsOnClassAndSettingsOnly) {
  FakeEngine engine;
  TrialRunner runner(engine);
  Case a_case = parse(kText).a_case;
  const Verdict verdict = runner.run(a_case);
  const std::string name = case_file_name(a_case, verdict);
  EXPECT_EQ(name.size(), std::string("3f9a.case").size());
  EXPECT_EQ(case_file_name(a_case, runner.run(a_case)), name);
  a_case.settings.warp_model = vgpu::WarpModel::lockstep;
  EXPECT_NE(case_file_name(a_case, verdict), name);
}

TEST(Replay, ShowsWhatWasRecorded) {
  FakeEngine engine;
  TrialRunner runner(engine);
  const ReplayOutcome outcome = replay(parse(kText), runner);
  EXPECT_TRUE(outcome.as_recorded);
  EXPECT_EQ(outcome.remark, "");
}

TEST(Replay, SearchesSchedulesWhenTheDeviceCodeHasChanged) {
  FakeEngine engine;
  TrialRunner runner(engine);
  CaseRecord record = parse(kText);
  engine.ptx_hash = 0x5678;
  EXPECT_EQ(replay(record, runner).remark,
            "the device code is not that of the record; the recorded schedule shows the same "
            "kinds");
  std::get<vgpu::Schedule>(record.a_case.schedule).decisions.front().index = 77;
  const ReplayOutcome outcome = replay(record, runner);
  EXPECT_TRUE(outcome.as_recorded);
  EXPECT_EQ(outcome.remark,
            "the device code is not that of the record; another schedule, searched for anew, "
            "shows the same kinds");
}

TEST(Replay, SaysWhatIsNotAsRecorded) {
  FakeEngine engine;
  TrialRunner runner(engine);
  CaseRecord record = parse(kText);
  record.a_case.schedule = vgpu::Schedule{};
  const ReplayOutcome outcome = replay(record, runner);
  EXPECT_FALSE(outcome.as_recorded);
  EXPECT_EQ(outcome.remark, "recorded data-race, mismatch, found data-race");
}

}  // namespace
}  // namespace warpcheck
