#include "vgpu/cudart/exec/exec_records.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>
#include <variant>

#include "vgpu/cudart/exec/refusal_record.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck::cudart {
namespace {

using vgpu::FindingKind;

TEST(ExecRecords, SettingsComeBackAsTheyWere) {
  ExecSettings settings;
  settings.records = "/a \"name\"\n/records";
  settings.checkers.init = false;
  settings.checkers.portable = true;
  settings.warp_model = vgpu::WarpModel::lockstep;
  settings.strategy = "pct";
  settings.seed = UINT64_MAX;
  settings.steps_max = 12;
  settings.devices = 4;
  settings.memory_bytes = std::uint64_t{16} << 30;
  settings.jobs = 7;
  settings.sparse = true;
  settings.prove = true;
  settings.steps_budget = 12;
  settings.compile = vgpu::Compile::never;
  settings.fresh_pattern = true;
  settings.device = 89;
  settings.leaks = true;
  settings.host_bytes = true;
  settings.kept_bytes = {3, UINT32_MAX};
  settings.ordered_operation = 4;
  settings.ordered_byte = 5'000'000'000;
  settings.trace_file = "/a/trace";
  settings.trace = "0\n1";
  settings.launch_worker = "/a/warpcheck";
  settings.debugger = "/a/socket";
  settings.profile = true;
  settings.checkers.volatile_is_weak = true;
  settings.checkers.strict_init = true;
  settings.texts = {"/a/scan.ptx"};
  settings.supposed = {.one_stream = true, .host_waits = true, .more_dynamic_shared = true};
  settings.experiments = 5;
  settings.host_lines = settings.findings_at_end = true;
  settings.code = true;
  settings.edits = {
      {.kind = ptx::EditKind::remove, .place = ptx::InstructionPlace{"_Z4scanPi", 3}, .text = {}},
      {.kind = ptx::EditKind::insert_after,
       .place = ptx::LinePlace{"a/scan.cu", 14, "st.shared", "_Z4scanPi"},
       .text = "bar.sync 0;",
       .build = ptx::EditedBuild::optimized}};
  const auto back = parse_exec_settings(to_text(settings));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->records, settings.records);
  EXPECT_TRUE(back->checkers.race);
  EXPECT_FALSE(back->checkers.init);
  EXPECT_TRUE(back->checkers.portable);
  EXPECT_EQ(back->warp_model, vgpu::WarpModel::lockstep);
  EXPECT_EQ(back->strategy, "pct");
  EXPECT_EQ(back->seed, UINT64_MAX);
  EXPECT_EQ(back->steps_max, 12u);
  EXPECT_EQ(back->devices, 4u);
  EXPECT_EQ(back->memory_bytes, std::uint64_t{16} << 30);
  EXPECT_EQ(back->jobs, 7u);
  EXPECT_TRUE(back->sparse);
  EXPECT_TRUE(back->prove);
  EXPECT_EQ(back->steps_budget, 12u);
  EXPECT_EQ(back->compile, vgpu::Compile::never);
  EXPECT_TRUE(back->fresh_pattern);
  EXPECT_EQ(back->device, 89u);
  EXPECT_TRUE(back->leaks);
  EXPECT_TRUE(back->host_bytes);
  EXPECT_EQ(back->kept_bytes, (std::vector<std::uint32_t>{3, UINT32_MAX}));
  EXPECT_EQ(back->ordered_operation, 4);
  EXPECT_EQ(back->ordered_byte, 5'000'000'000);
  EXPECT_EQ(back->trace_file, "/a/trace");
  EXPECT_EQ(back->trace, "0\n1");
  EXPECT_EQ(back->launch_worker, "/a/warpcheck");
  EXPECT_EQ(back->debugger, "/a/socket");
  EXPECT_TRUE(back->profile);
  EXPECT_TRUE(back->checkers.volatile_is_weak);
  EXPECT_TRUE(back->checkers.strict_init);
  EXPECT_EQ(back->texts, settings.texts);
  EXPECT_EQ(back->supposed, settings.supposed);
  EXPECT_EQ(back->experiments, 5);
  EXPECT_TRUE(back->host_lines);
  EXPECT_TRUE(back->findings_at_end);
  EXPECT_TRUE(back->code);
  EXPECT_EQ(back->edits, settings.edits);
}

TEST(ExecRecords, AFindingComesBackAsItWas) {
  vgpu::Finding finding;
  finding.kind = FindingKind::barrier_divergence;
  finding.space = "shared";
  finding.severity = vgpu::Severity::note;
  finding.kernel = "scan<int>";
  finding.object = "share[31], 4 bytes";
  finding.accesses = {{"write",
                       {1, 2, 3},
                       {4, 5, 6},
                       "a \xc3\xa4.cu",
                       7,
                       "st.shared.u32",
                       "/usr/local/cuda/include/cub/a.cuh",
                       99,
                       5,
                       {},
                       {{"a.cu", 9}, {"b.cu", 10}},
                       {{"c.cu", 11}}},
                      {.role = "host copy", .host_code = "main+0x2f"}};
  finding.message = "no barrier orders (1) and (2)";
  finding.count = 1'000'000'000'000;
  finding.variable = "share";
  finding.relation = vgpu::Relation::blocks;
  finding.also_between = {vgpu::Relation::warps, vgpu::Relation::lanes};
  finding.lack = vgpu::Lack::order_of_blocks;
  finding.cause = "cudaMalloc() failed before";
  const std::string text = to_text(ExecRecord{17, FindingRecord{3, finding, 12}});
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const ExecRecord back = parse_exec_record(text);
  EXPECT_EQ(back.process, 17);
  const auto* const found = std::get_if<FindingRecord>(&back.what);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->number, 3u);
  EXPECT_EQ(found->finding, finding);
  EXPECT_EQ(found->arrivals, 12u);
}

TEST(ExecRecords, TheOthersComeBackToo) {
  const auto start = parse_exec_record(to_text(ExecRecord{1, StartRecord{"/bin/program"}}));
  EXPECT_EQ(std::get<StartRecord>(start.what).program, "/bin/program");
  const auto kernel = parse_exec_record(
      to_text(ExecRecord{1, KernelRecord{"_Z3sumPi", "sum.cu:2 atom", true, 5, "all data"}}));
  EXPECT_EQ(std::get<KernelRecord>(kernel.what).name, "_Z3sumPi");
  EXPECT_EQ(std::get<KernelRecord>(kernel.what).sees_order, "sum.cu:2 atom");
  EXPECT_TRUE(std::get<KernelRecord>(kernel.what).reads_unwritten);
  EXPECT_EQ(std::get<KernelRecord>(kernel.what).arrivals, 5u);
  EXPECT_EQ(std::get<KernelRecord>(kernel.what).proved, "all data");
  const auto call = parse_exec_record(to_text(ExecRecord{1, CallRecord{"cudaMemcpy", "a.cu", 7}}));
  EXPECT_EQ(std::get<CallRecord>(call.what).name, "cudaMemcpy");
  EXPECT_EQ(std::get<CallRecord>(call.what).file, "a.cu");
  EXPECT_EQ(std::get<CallRecord>(call.what).line, 7u);
  const auto refusal = parse_exec_record(to_text(ExecRecord{1, RefusalRecord{"no \xff"}}));
  EXPECT_EQ(std::get<RefusalRecord>(refusal.what).reason, "no \xef\xbf\xbd");
  vgpu::CountedInstr instr{"_Z3sumPi", "sum.cu", 7, 3, "st.global.u32", {}};
  instr.counts.sectors = 32;
  instr.counts.local_sectors = UINT64_MAX;
  const auto counts = parse_exec_record(to_text(ExecRecord{1, CountsRecord{{instr, instr}}}));
  EXPECT_EQ(std::get<CountsRecord>(counts.what).instrs, (std::vector{instr, instr}));
  const auto end = parse_exec_record(to_text(ExecRecord{1, EndRecord{2, {"a", "b"}}}));
  EXPECT_EQ(std::get<EndRecord>(end.what).launches, 2u);
  EXPECT_EQ(std::get<EndRecord>(end.what).kernels, (std::vector<std::string>{"a", "b"}));
}

TEST(ExecRecords, ALineThatIsNoRecordIsQuotedWithTheReason) {
  const auto error_of = [](const std::string& line) -> std::string {
    try {
      static_cast<void>(parse_exec_record(line));
    } catch (const ExecRecordError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string finding =
      R"({"record":"finding","number":0,"finding":{"kind":"new"},"process":1})";
  const std::pair<std::string, std::string> kLines[] = {
      {"", "no JSON from byte 1 on"},
      {R"({"record":"refus)", "no JSON from byte 17 on"},
      {R"({"record":"refusal","reason":"a","process":1}{)", "no JSON from byte 46 on"},
      {"[]", "cannot use at() with array"},
      {R"({"record":"refusal","reason":"a"})", "key 'process' not found"},
      {R"({"record":"refusal","process":1})", "key 'reason' not found"},
      {R"({"record":"refusal","reason":2,"process":1})", "type must be string, but is number"},
      {R"({"record":"other","process":1})", "no such record"},
      {finding, "no such kind of finding"},
  };
  for (const auto& [line, reason] : kLines) {
    EXPECT_EQ(error_of(line), "wrote '" + line + "': " + reason);
    EXPECT_EQ(error_of(line + "\n"), error_of(line));
  }
}

TEST(ExecRecords, DamagedSettingsAreNone) {
  EXPECT_FALSE(parse_exec_settings("{}").has_value());
  EXPECT_FALSE(parse_exec_settings("1").has_value());
  EXPECT_FALSE(parse_exec_settings("").has_value());
  // By a command of another build, which has one checker more.
  std::string text = to_text(ExecSettings{});
  EXPECT_TRUE(parse_exec_settings(text).has_value());
  const std::string_view key = R"("checkers":{)";
  text.insert(text.find(key) + key.size(), R"("another":true,)");
  EXPECT_FALSE(parse_exec_settings(text).has_value());
}

TEST(ExecRecords, ARefusalIsAppendedByThoseWhoKnowNothingElseOfThem) {
  const TemporaryDirectory temporary;
  const std::string file = (temporary.path() / "records").string();
  std::ofstream{file};
  ExecSettings settings;
  settings.records = file;
  EXPECT_TRUE(append_refusal(to_text(settings).c_str(), "a \"name\"\n"));
  EXPECT_TRUE(append_refusal(to_text(settings).c_str(), "another"));
  std::ifstream written(file);
  for (const char* reason : {"a \"name\"\n", "another"}) {
    std::string line;
    ASSERT_TRUE(std::getline(written, line));
    const ExecRecord record = parse_exec_record(line);
    EXPECT_EQ(record.process, ::getpid());
    EXPECT_EQ(std::get<RefusalRecord>(record.what).reason, reason);
  }
  EXPECT_FALSE(append_refusal(nullptr, "no settings"));
  EXPECT_FALSE(append_refusal("{}", "settings without a file"));
  EXPECT_FALSE(append_refusal("{", "half of the settings"));
  settings.records = file + "/nowhere";
  EXPECT_FALSE(append_refusal(to_text(settings).c_str(), "no such file"));
}

}  // namespace
}  // namespace warpcheck::cudart
