#include "vgpu/cudart/against/launch_messages.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <thread>

namespace warpcheck::cudart {
namespace {

class LaunchMessages : public ::testing::Test {
 protected:
  LaunchMessages() {
    std::array<int, 2> sockets{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
    ends_[0] = MessageLink(sockets[0]);
    ends_[1] = MessageLink(sockets[1]);
  }
  std::array<MessageLink, 2> ends_{MessageLink(-1), MessageLink(-1)};
};

TEST_F(LaunchMessages, ARequestArrivesWhole) {
  LaunchRequest request;
  request.optimization = 2;
  request.image.ptx = ".version 8.0\n\"quoted\"";
  request.image.kernel = "_Z1kPi";
  request.image.grid = {2, 3, 4};
  request.image.block = {5, 6, 7};
  request.image.cluster = {2, 1, 1};
  request.image.explicit_cluster = true;
  request.image.cooperative = true;
  request.image.dynamic_shared_bytes = 1024;
  request.image.parameters = {std::byte{1}, std::byte{255}};
  request.image.addresses = {{0, "table", 8}};
  request.image.memory.push_back(
      {.variable = "", .address = 0x2000'0000'0000, .bytes = std::vector<std::byte>(300'000)});
  request.image.memory.back().bytes[299'999] = std::byte{7};
  request.image.memory.push_back({.variable = "table", .address = 16, .bytes = {}});
  request.image.memory.back().is_constant = true;
  std::thread sender([&] { send(ends_[0], request); });
  const LaunchRequest got = receive_request(ends_[1]);
  sender.join();
  EXPECT_EQ(got.optimization, 2u);
  EXPECT_EQ(got.image.ptx, request.image.ptx);
  EXPECT_EQ(got.image.kernel, "_Z1kPi");
  EXPECT_EQ(got.image.grid.z, 4u);
  EXPECT_EQ(got.image.block.y, 6u);
  EXPECT_EQ(got.image.cluster.x, 2u);
  EXPECT_TRUE(got.image.explicit_cluster);
  EXPECT_TRUE(got.image.cooperative);
  EXPECT_EQ(got.image.dynamic_shared_bytes, 1024u);
  EXPECT_EQ(got.image.parameters, request.image.parameters);
  ASSERT_EQ(got.image.addresses.size(), 1u);
  EXPECT_EQ(got.image.addresses[0].variable, "table");
  EXPECT_EQ(got.image.addresses[0].offset, 8u);
  ASSERT_EQ(got.image.memory.size(), 2u);
  EXPECT_EQ(got.image.memory[0].address, 0x2000'0000'0000u);
  EXPECT_EQ(got.image.memory[0].bytes, request.image.memory[0].bytes);
  EXPECT_TRUE(got.image.memory[1].is_constant);
}

TEST_F(LaunchMessages, AClosedSocketIsAnError) {
  ends_[0].close();
  EXPECT_THROW(receive_request(ends_[1]), LaunchMessageError);
}

TEST_F(LaunchMessages, SilenceIsAnErrorAfterAWhile) {
  EXPECT_THROW(receive_result(ends_[1], 0.01), LaunchMessageError);
}

TEST_F(LaunchMessages, AnythingElseIsAnError) {
  for (const char* line : {"abc", "{ }", R"({"problem": "", "memory": [{}]})"}) {
    ASSERT_TRUE(ends_[0].send(line));
    EXPECT_THROW(receive_result(ends_[1], -1), LaunchMessageError) << line;
  }
  ASSERT_TRUE(ends_[0].send(R"({"problem": "", "memory": [], "more": 1})"));
  EXPECT_EQ(receive_result(ends_[1], -1).problem, "") << "the link is as it was";
}

}  // namespace
}  // namespace warpcheck::cudart
