#include "vgpu/cudart/device/message_link.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <thread>
#include <vector>

namespace warpcheck::cudart {
namespace {

class MessageLinkTest : public ::testing::Test {
 protected:
  MessageLinkTest() {
    std::array<int, 2> sockets{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
    one_ = MessageLink(sockets[0]);
    other_ = MessageLink(sockets[1]);
  }
  MessageLink one_{-1}, other_{-1};
};

TEST_F(MessageLinkTest, BytesStandBetweenLines) {
  const std::vector<std::byte> bytes(200'000, std::byte{'\n'});
  std::thread sender([&] {
    EXPECT_TRUE(one_.send("first"));
    EXPECT_TRUE(one_.send_bytes(bytes));
    EXPECT_TRUE(one_.send(""));
    EXPECT_TRUE(one_.send("last"));
  });
  EXPECT_EQ(other_.receive(), "first");
  std::vector<std::byte> got(bytes.size());
  EXPECT_TRUE(other_.receive_bytes(got));
  EXPECT_EQ(got, bytes);
  EXPECT_EQ(other_.receive(), "");
  EXPECT_EQ(other_.receive(), "last");
  sender.join();
  EXPECT_FALSE(other_.has_line(0));
}

TEST_F(MessageLinkTest, TheOtherSideMayBeGone) {
  ASSERT_TRUE(one_.send_bytes(std::array<std::byte, 2>{}));
  one_.close();
  std::array<std::byte, 3> more{};
  EXPECT_FALSE(other_.receive_bytes(more));
  EXPECT_TRUE(other_.has_line(0)) << "there is nothing to wait for";
  EXPECT_EQ(other_.receive(), std::nullopt);
  EXPECT_FALSE(other_.send("line"));
}

}  // namespace
}  // namespace warpcheck::cudart
