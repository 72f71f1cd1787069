#include "vgpu/cudart/memory/host_pages.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::size_t kPage = 4096;

// Four pages: writable, read-only, barred, unmapped.
class PagesOfHost : public testing::Test {
 protected:
  PagesOfHost() {
    catch_faults_by([] {
      for (const int signal : {SIGSEGV, SIGBUS}) {
        std::signal(signal, [](int) { end_touch_after_fault(); });
      }
    });
    pages_ = static_cast<std::byte*>(
        ::mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(pages_ + kPage, kPage, PROT_READ);
    ::mprotect(pages_ + 2 * kPage, kPage, PROT_NONE);
    ::munmap(pages_ + 3 * kPage, kPage);
  }
  ~PagesOfHost() override {
    ::munmap(pages_, 3 * kPage);
    catch_faults_by(nullptr);
    for (const int signal : {SIGSEGV, SIGBUS}) std::signal(signal, SIG_DFL);
  }
  PagesOfHost(const PagesOfHost&) = delete;
  PagesOfHost& operator=(const PagesOfHost&) = delete;

  std::byte* pages_ = nullptr;
};

TEST_F(PagesOfHost, AreReadUpToTheFirstThatAllowsNoAccess) {
  EXPECT_EQ(accessible_on_host(pages_ + 100, kPage, false).behind, HostGap::none);
  const HostAccessible found = accessible_on_host(pages_ + 100, 3 * kPage, false);
  EXPECT_EQ(found.bytes, 2 * kPage - 100);
  EXPECT_EQ(found.behind, HostGap::barred);
}

TEST_F(PagesOfHost, AreWrittenUpToTheFirstReadOnlyOne) {
  EXPECT_EQ(accessible_on_host(pages_, kPage, true).behind, HostGap::none);
  const HostAccessible found = accessible_on_host(pages_ + 8, 2 * kPage, true);
  EXPECT_EQ(found.bytes, kPage - 8);
  EXPECT_EQ(found.behind, HostGap::read_only);
  EXPECT_EQ(accessible_on_host(pages_ + 2 * kPage, 1, true).behind, HostGap::barred);
}

TEST_F(PagesOfHost, EndWhereNothingIsMapped) {
  ::munmap(pages_ + 2 * kPage, kPage);
  const HostAccessible found = accessible_on_host(pages_ + kPage + 16, 2 * kPage, false);
  EXPECT_EQ(found.bytes, kPage - 16);
  EXPECT_EQ(found.behind, HostGap::unmapped);
  EXPECT_EQ(accessible_on_host(pages_ + 3 * kPage, 4, false).bytes, 0u);
  EXPECT_EQ(accessible_on_host(nullptr, 4, false).behind, HostGap::unmapped);
  EXPECT_EQ(accessible_on_host(pages_, SIZE_MAX, false).behind, HostGap::unmapped);
}

TEST_F(PagesOfHost, EndWithTheFileThatTheyMap) {
  const TemporaryDirectory directory;
  const int file = ::open((directory.path() / "page").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(::ftruncate(file, kPage), 0);
  auto* const mapped = static_cast<std::byte*>(
      ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  const HostAccessible found = accessible_on_host(mapped + 4, 2 * kPage - 4, true);
  EXPECT_EQ(found.bytes, kPage - 4);
  EXPECT_EQ(found.behind, HostGap::unmapped);
  ::munmap(mapped, 2 * kPage);
  ::close(file);
}

}  // namespace
}  // namespace warpcheck::cudart
