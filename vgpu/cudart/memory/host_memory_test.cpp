#include "vgpu/cudart/memory/host_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck::cudart {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMega = std::uint64_t{1} << 20;

// A file system with the descriptions of the host that a test needs.
class HostMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    write("proc/meminfo", "MemTotal:  33554432 kB\nMemAvailable:  16777216 kB\nSwapFree: 0 kB\n");
  }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  [[nodiscard]] std::uint64_t megabytes() const { return device_memory_of_host(root_) / kMega; }

  const TemporaryDirectory temporary_;
  const fs::path root_ = temporary_.path();
};

TEST_F(HostMemory, IsAShareOfWhatIsAvailable) {
  EXPECT_EQ(megabytes(), 4096u);
  write("proc/meminfo", "MemAvailable:  1048576 kB\nSwapFree: 1048576 kB\n");
  EXPECT_EQ(megabytes(), 512u);
}

TEST_F(HostMemory, IsBoundedByGroupsOfVersion2AndAllAboveThem) {
  write("proc/self/cgroup", "0::/jobs/one\n");
  write("sys/fs/cgroup/jobs/one/memory.max", "max\n");
  write("sys/fs/cgroup/jobs/one/memory.current", "1048576\n");
  EXPECT_EQ(megabytes(), 4096u);
  write("sys/fs/cgroup/jobs/memory.max", "4294967296\n");
  write("sys/fs/cgroup/jobs/memory.current", "1073741824\n");
  EXPECT_EQ(megabytes(), 768u);
  write("sys/fs/cgroup/jobs/memory.stat", "anon 0\ninactive_file 1073741824\n");
  EXPECT_EQ(megabytes(), 1024u);
}

TEST_F(HostMemory, IsBoundedByGroupsOfVersion1WhereverTheyAreMounted) {
  write("proc/self/cgroup", "5:cpu:/x\n4:memory:/not/seen/from/inside\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "536870912\n");
  EXPECT_EQ(megabytes(), 128u);
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741000\n");
  EXPECT_EQ(megabytes(), 64u);  // the minimum
}

}  // namespace
}  // namespace warpcheck::cudart
