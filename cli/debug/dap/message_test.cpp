// The messages of the Debug Adapter Protocol: framing, requests and their arguments, responses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "cli/debug/dap/client.hpp"
#include "cli/debug/dap/frames.hpp"
#include "cli/debug/dap/inbox.hpp"
#include "cli/debug/dap/request.hpp"

namespace warpcheck::dap {
namespace {

std::string damage_of(FrameReader& reader) {
  try {
    static_cast<void>(reader.next());
  } catch (const DamagedMessage& error) {
    return error.what();
  }
  return "";
}

TEST(DapFrames, MessagesAreFoundWhereverTheBytesAreCut) {
  const std::string bytes = framed("{\"a\":1}") + framed("") + framed("{\"b\":\"\r\n\r\n\"}");
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameReader reader;
    std::vector<std::string> messages;
    for (const std::string& part : {bytes.substr(0, cut), bytes.substr(cut)}) {
      reader.add(part);
      while (const auto message = reader.next()) messages.push_back(*message);
    }
    EXPECT_EQ(messages, (std::vector<std::string>{"{\"a\":1}", "", "{\"b\":\"\r\n\r\n\"}"})) << cut;
  }
}

TEST(DapFrames, FieldsOfTheHeaderAreTakenInAnyCaseAndOrder) {
  FrameReader reader;
  reader.add("Content-Type: text/json\r\ncontent-LENGTH:  2 \r\n\r\n{}");
  EXPECT_EQ(reader.next(), "{}");
}

TEST(DapFrames, DamageIsNamedAndTheNextMessageIsRead) {
  FrameReader reader;
  reader.add("Content-Length: many\r\n\r\n" + framed("{}"));
  EXPECT_EQ(damage_of(reader), "Content-Length: expected a number of bytes, found \"many\"");
  EXPECT_EQ(reader.next(), "{}");
  reader.add("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + framed("[]"));
  EXPECT_EQ(damage_of(reader),
            "expected a header with Content-Length before each message, found \"GET / HTTP/1.1\"");
  EXPECT_EQ(reader.next(), "[]");
  reader.add("Content-Length: -1\r\n\r\n{}" + framed("{\"a\":2}"));
  EXPECT_EQ(damage_of(reader), "Content-Length: expected a number of bytes, found \"-1\"");
  EXPECT_NE(damage_of(reader), "");  // its text, in front of the next header
  EXPECT_EQ(reader.next(), "{\"a\":2}");
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST(DapFrames, AMessageThatIsTooLongIsSkippedAndAHeaderEnds) {
  FrameReader reader;
  const std::size_t length = FrameReader::kBytesMax + 1;
  reader.add("Content-Length: " + std::to_string(length) + "\r\n\r\n");
  EXPECT_EQ(damage_of(reader), "a message of 16777217 bytes; 16777216 at most are expected");
  reader.add(std::string(length - 1, ' '));
  EXPECT_EQ(reader.next(), std::nullopt);
  reader.add(" " + framed("{}"));
  EXPECT_EQ(reader.next(), "{}");
  reader.add(std::string(5000, 'x'));
  EXPECT_EQ(damage_of(reader),
            "expected a header with Content-Length, found 4096 bytes without its end");
  reader.add(framed("{}"));
  EXPECT_EQ(reader.next(), "{}");
}

std::string damage_in(const std::string& text) {
  try {
    static_cast<void>(parse_request(text));
  } catch (const DamagedMessage& error) {
    return error.what();
  }
  return "";
}

TEST(DapRequest, WhatIsNoRequestIsNamed) {
  EXPECT_EQ(damage_in("{nonsense"), "a message: expected JSON, found \"{nonsense\"");
  EXPECT_EQ(damage_in("[1]"), "a message: expected an object, found [1]");
  EXPECT_EQ(damage_in("{}"), "a message: expected the type \"request\", found null");
  EXPECT_EQ(damage_in(R"({"type":"request","command":"next"})"),
            "a message: expected an integer as seq, found null");
  EXPECT_EQ(damage_in(R"({"type":"request","seq":1,"command":2})"),
            "a message: expected a command, found 2");
  EXPECT_EQ(damage_in(std::string(1'000'000, '[')),
            "a message: expected at most 64 values in one another, found more");
  EXPECT_FALSE(parse_request(R"({"type":"response","request_seq":1})").has_value());
}

std::string refusal(const std::string& arguments, void (*read)(const Arguments&)) {
  const auto request =
      parse_request(R"({"type":"request","seq":1,"command":"next","arguments":)" + arguments + "}");
  try {
    read(request->arguments());
  } catch (const RequestError& error) {
    return error.what();
  }
  return "";
}

TEST(DapRequest, ArgumentsOfAnotherTypeAreNamedByTheirPath) {
  EXPECT_EQ(refusal("{}", [](const Arguments& a) { static_cast<void>(a.integer("threadId")); }),
            "next: threadId: expected an integer, found none");
  EXPECT_EQ(refusal(R"({"line":"x"})",
                    [](const Arguments& a) { static_cast<void>(a.integer_or("line", 0)); }),
            "next: line: expected an integer, found \"x\"");
  EXPECT_EQ(refusal(R"({"all":[{},{"source":{"path":7}}]})",
                    [](const Arguments& a) {
                      static_cast<void>(a.objects_if("all").at(1).object("source").text("path"));
                    }),
            "next: all[1].source.path: expected a text, found 7");
  EXPECT_EQ(refusal("[1,2]", [](const Arguments&) {}), "next: expected an object, found [1,2]");
  EXPECT_EQ(refusal(R"({"env":{"A":1}})",
                    [](const Arguments& a) { static_cast<void>(a.object("env").members()); }),
            "next: env.A: expected a text, found 1");
}

TEST(DapRequest, AbsentArgumentsHaveTheirDefaults) {
  const auto request = parse_request(R"({"type":"request","seq":1,"command":"threads"})");
  const Arguments arguments = request->arguments();
  EXPECT_EQ(arguments.integer_or("levels", 20), 20);
  EXPECT_TRUE(arguments.flag_or("yes", true));
  EXPECT_EQ(arguments.text_or("word", "none"), "none");
  EXPECT_TRUE(arguments.objects_if("breakpoints").empty());
  EXPECT_TRUE(arguments.texts_if("filters").empty());
}

class DapClient : public testing::Test {
 protected:
  DapClient() {
    EXPECT_EQ(::pipe(to_us_.data()), 0);
    EXPECT_EQ(::pipe(from_us_.data()), 0);
  }
  ~DapClient() override {
    hang_up();
    for (const int each : {to_us_[0], from_us_[0], from_us_[1]}) ::close(each);
  }
  void send(const std::string& bytes) const {
    EXPECT_EQ(::write(to_us_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void hang_up() {
    if (to_us_[1] >= 0) ::close(std::exchange(to_us_[1], -1));
  }
  Json received() {
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(from_us_[0], bytes.data(), bytes.size());
    reader_.add({bytes.data(), static_cast<std::size_t>(count)});
    return Json::parse(reader_.next().value());
  }

  std::array<int, 2> to_us_{}, from_us_{};
  FrameReader reader_;
};

constexpr const char* kThreads = R"({"type":"request","seq":7,"command":"threads"})";

TEST_F(DapClient, MessagesToItAreNumbered) {
  Client client(from_us_[1]);
  const Request request = parse_request(kThreads).value();
  client.respond(request, {{"threads", Json::array()}});
  EXPECT_EQ(received(), Json::parse(R"({"type":"response","request_seq":7,"command":"threads",
      "success":true,"body":{"threads":[]},"seq":1})"));
  client.send_event("initialized");
  EXPECT_EQ(received(), Json::parse(R"({"type":"event","event":"initialized","seq":2})"));
  client.refuse(request, "no");
  EXPECT_EQ(received(), Json::parse(R"({"type":"response","request_seq":7,"command":"threads",
      "success":false,"message":"no","body":{"error":{"id":1,"format":"{message}",
      "variables":{"message":"no"},"showUser":true}},"seq":3})"));
  client.refuse_damaged("what is this");
  EXPECT_EQ(received()["request_seq"], 0);
}

TEST_F(DapClient, BytesThatAreNoTextReachItAsReplacements) {
  Client client(from_us_[1]);
  client.send_event("output", {{"output", "a\xff"}});
  EXPECT_EQ(received()["body"]["output"], "a\xef\xbf\xbd");
}

TEST_F(DapClient, RequestsDamageAndTheEndArriveInOrder) {
  Inbox inbox(to_us_[0]);
  EXPECT_FALSE(inbox.next().has_value());
  send(framed(kThreads) + framed("{") + framed(kThreads));
  EXPECT_EQ(std::get<Request>(inbox.wait()).command, "threads");
  EXPECT_EQ(std::get<Damage>(inbox.wait()).message, "a message: expected JSON, found \"{\"");
  EXPECT_EQ(std::get<Request>(inbox.wait()).seq, 7);
  hang_up();
  EXPECT_TRUE(std::holds_alternative<Disappearance>(inbox.wait()));
}

TEST_F(DapClient, WhatMattersInterruptsEvenIfItArrivedBefore) {
  Inbox inbox(to_us_[0]);
  std::atomic<int> interrupts = 0;
  const auto is_disappearance = [](const Arrival& arrival) {
    return std::holds_alternative<Disappearance>(arrival);
  };
  {
    const Inbox::Interruption interruption(inbox, is_disappearance, [&] { ++interrupts; });
    send(framed(kThreads));
    EXPECT_TRUE(std::holds_alternative<Request>(inbox.wait()));
  }
  EXPECT_EQ(interrupts, 0);
  hang_up();
  const Inbox::Interruption interruption(inbox, is_disappearance, [&] { ++interrupts; });
  while (interrupts < 2) std::this_thread::yield();
  EXPECT_TRUE(std::holds_alternative<Disappearance>(inbox.wait()));
}

}  // namespace
}  // namespace warpcheck::dap
