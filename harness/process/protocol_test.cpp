#include "harness/process/protocol.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace warpcheck {
namespace {

const std::string kHello = "hello {\"version\":3}\n";

// The messages that a reader finds in these bytes: "error: ..." for what it refuses, and the line
// of each message after hello.
std::vector<std::string> read(const std::vector<std::string>& parts) {
  std::vector<std::string> said;
  MessageReader reader;
  const auto note = [&](const auto& step) {
    try {
      return step();
    } catch (const ProtocolError& error) {
      said.push_back(std::string("error: ") + error.what());
      return true;
    }
  };
  for (const std::string& part : parts) {
    reader.add(part);
    while (note([&] {
      const auto message = reader.next();
      if (message && !std::holds_alternative<HelloMessage>(*message)) {
        said.push_back(line_of(*message));
      }
      return message.has_value();
    })) {
    }
  }
  note([&] { return reader.end(), false; });
  return said;
}

std::vector<Message> one_of_each() {
  const std::vector<ShownFinding> shown{{"12ab", "data-race", "data-race|shared|scan|a.cu:1"}};
  LineCoverage coverage;
  coverage.files["kernels/scan.cu"] = {{14, 3}, {15, 0}};
  return {
      HelloMessage{kProtocolVersion},
      DoneMessage{},
      ThrewMessage{"no such \"thing\"\n\xff"},
      TrialsMessage{UINT64_MAX},
      EveryScheduleMessage{7},
      ProofMessage{{Proof::every_schedule, {0, 33}, "data decides a branch: a.cu:1"}},
      RefusalMessage{"kernel k: wmma.load"},
      ErrorMessage{"cannot write a"},
      InternalErrorMessage{"internal error: b"},
      KindsMessage{{vgpu::FindingKind::data_race, vgpu::FindingKind::mismatch}},
      FailureMessage{"{}", "cases/a.case", 1, 2, true},
      UnhealthyMessage{"claim", 100, "no-launch", "none"},
      LinesMessage{coverage},
      ProvedMessage{{"0123456789abcdef"},
                    {{Proof::tried, "a fence: a.cu:1", true, "a.cu:2", 7, true, true, "{}"}},
                    {0, 1},
                    {{0, 32, 1, 0, 0}}},
      FoundMessage{"scan", "{}", -1, shown, false},
      ShrunkMessage{true, "{}", 3, true, shown},
      ConfirmedMessage{true, 3, 20},
      SearchedMessage{7, 8},
      RemarkMessage{""},
      GpuTaskMessage{"libcudart.so", 5, 100},
      GpuJobMessage{"scan", "claim", "", 1, 2},
      GpuDeviceMessage{"NVIDIA H200"},
      GpuTrialMessage{1, 2},
      GpuFailureMessage{
          1, 2, {{vgpu::FindingKind::mismatch, "scan", vgpu::Lack::output, "out[0]"}}},
  };
}

// Byte by byte, as a pipe may deliver them.
TEST(Protocol, MessagesComeBackAsTheyWere) {
  std::string text;
  for (const Message& message : one_of_each()) text += line_of(message);
  EXPECT_EQ(one_of_each().size(), std::variant_size_v<Message>);
  MessageReader reader;
  std::vector<Message> back;
  for (const char byte : text) {
    reader.add({&byte, 1});
    while (const auto message = reader.next()) back.push_back(*message);
  }
  reader.end();
  EXPECT_EQ(back, one_of_each());
}

TEST(Protocol, AMessageIsItsTagAndItsFields) {
  EXPECT_EQ(line_of(DoneMessage{}), "done {}\n");
  EXPECT_EQ(line_of(TrialsMessage{500}), "trials {\"count\":500}\n");
  EXPECT_EQ(line_of(GpuFailureMessage{
                3, 1, {{vgpu::FindingKind::mismatch, "scan", vgpu::Lack::output, "out[0]"}}}),
            "gpu-failure {\"trial\":3,\"launches\":1,\"findings\":[{\"kind\":\"mismatch\","
            "\"kernel\":\"scan\",\"lack\":\"output\",\"message\":\"out[0]\"}]}\n");
}

// Reading continues after a line that is no message.
TEST(Protocol, ALineThatIsNoMessageIsQuotedWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> kLines{
      {"trialz {\"count\":1}", "no message has the tag 'trialz'"},
      {"", "no message has the tag ''"},
      {"{\"trials\":1}", "no message has the tag '{\"trials\":1}'"},
      {"Trials {\"count\":1}", "no message has the tag 'Trials'"},
      {"trials", "it has no fields"},
      {"trials ", "its fields are no JSON from byte 1 on"},
      {"trials {\"count\":", "its fields are no JSON from byte 10 on"},
      {"trials {\"count\":1} ]", "its fields are no JSON from byte 13 on"},
      {"trials 1", "trials: expected an object, found 1"},
      {"trials {}", "trials.count: missing"},
      {"trials {\"count\":-1}", "trials.count: expected an integer in [0, 2^64), found -1"},
      {"trials {\"count\":\"1\"}", "trials.count: expected an integer in [0, 2^64), found \"1\""},
      {"trials {\"count\":1,\"of\":2}", "trials.of: no such field"},
      {"proof {\"of\":{\"proof\":\"most\",\"sizes\":[],\"reason\":\"\"}}",
       "proof.of.proof: expected one of failed, tried, every-execution, every-schedule, all-data, "
       "found \"most\""},
      {"kinds {\"kinds\":[\"data-race\",\"new\"]}",
       "kinds.kinds[1]: expected a kind of finding, found \"new\""},
      {"lines {\"coverage\":{\"a.cu\":[1]}}",
       "lines.coverage.a.cu[0]: expected a list of 2 values, found 1"},
      {"lines {\"coverage\":{\"a.cu\":[[4294967296,1]]}}",
       "lines.coverage.a.cu[0]: expected a line and how often it ran, found [4294967296,1]"},
      {"lines {\"coverage\":[]}", "lines.coverage: expected lines of files, found []"},
      {"gpu-failure {\"trial\":0,\"launches\":1,\"findings\":[{\"kind\":\"trap\",\"kernel\":\"\","
       "\"lack\":\"new\",\"message\":\"\"}]}",
       "gpu-failure.findings[0].lack: expected what a finding lacks, found \"new\""}};
  for (const auto& [line, reason] : kLines) {
    EXPECT_EQ(read({kHello, line + "\n", "trials {\"count\":2}\n"}),
              (std::vector<std::string>{"error: wrote '" + line + "': " + reason,
                                        "trials {\"count\":2}\n"}));
  }
}

TEST(Protocol, AQuotedLineIsOneOfATerminal) {
  EXPECT_EQ(read({kHello, "\x1b[2J\x01\n"}),
            std::vector<std::string>{"error: wrote '\\x1b[2J\\x01': no message has the tag "
                                     "'\x1b[2J\x01'"});
  const std::string long_line = "done " + std::string(1'000, 'x');
  EXPECT_EQ(read({kHello, long_line + "\n"}),
            std::vector<std::string>{"error: wrote '" + long_line.substr(0, 300) +
                                     "... (1005 bytes)': its fields are no JSON from byte 1 on"});
}

TEST(Protocol, AMessageThatIsCutOffIsNone) {
  EXPECT_EQ(
      read({kHello, "trials {\"count\":1"}),
      std::vector<std::string>{"error: wrote 'trials {\"count\":1': it ends within the line"});
  EXPECT_EQ(
      read({kHello, "trials {\"count\":1}"}),
      std::vector<std::string>{"error: wrote 'trials {\"count\":1}': it ends within the line"});
  EXPECT_EQ(read({"hel"}), std::vector<std::string>{"error: wrote 'hel': it ends within the line"});
  EXPECT_EQ(read({kHello, "trials {\"cou", "nt\":1}\n"}),
            std::vector<std::string>{"trials {\"count\":1}\n"});
}

// Nothing else is read: it may have another meaning.
TEST(Protocol, AnotherVersionIsRefusedAsAWhole) {
  EXPECT_EQ(read({"hello {\"version\":9}\ntrials {\"count\":1}\n", "done {}\nhalf"}),
            std::vector<std::string>{"error: wrote 'hello {\"version\":9}': it speaks version 9 of "
                                     "the protocol, and not 3"});
  EXPECT_EQ(
      read({"trials {\"count\":1}\n" + kHello}),
      std::vector<std::string>{"error: wrote 'trials {\"count\":1}': hello has to come first"});
  EXPECT_EQ(
      read({"usage: program\n" + kHello}),
      std::vector<std::string>{"error: wrote 'usage: program': no message has the tag 'usage:'"});
}

TEST(Protocol, AMessageForSomebodyElseIsToldAsItWasWritten) {
  EXPECT_STREQ(unexpected(SearchedMessage{1, 2}).what(),
               "wrote 'searched {\"features\":1,\"entries\":2}': it is no message of this worker");
  EXPECT_EQ(internal_error(unexpected(DoneMessage{})),
            "internal error: a worker wrote 'done {}': it is no message of this worker");
}

}  // namespace
}  // namespace warpcheck
