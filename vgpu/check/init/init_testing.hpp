// For tests of the initialisation checker: it observes a launch of two blocks, and memory of each
// space.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/checkers.hpp"
#include "vgpu/check/fake_launch.hpp"
#include "vgpu/machine/undefined/unwritten_memory.hpp"

namespace warpcheck::vgpu {

inline constexpr auto kRead = AccessKind::read;
inline constexpr auto kWrite = AccessKind::write;
inline constexpr auto kAtomic = AccessKind::atomic;

class InitTest : public testing::Test {
 protected:
  InitTest() {
    reporter.set_unwritten(&unwritten);
    checker.configure({});
    unwritten.reset();
    checker.reset(WarpModel::independent);
    unwritten.on_allocate(global.allocation());
    unwritten.on_allocate(local.allocation());
    launch.start({2, 1, 1}, {64, 1, 1});
    launch.start_block(0, 0, &shared);
  }

  void host(bool write, std::uint32_t offset, std::uint32_t bytes) {
    host({&global.allocation(), offset, bytes, write, false});
  }
  void host(const HostAccess& access) {
    checker.on_host_access(access);
    unwritten.on_host_access(access);
  }
  void copy_on_device(const DeviceCopy& copied) {
    checker.on_device_copy(copied);
    unwritten.on_device_copy(copied);
  }
  void branch(std::uint32_t pc, std::uint32_t lanes, std::uint32_t origin,
              UndefinedUse::Kind kind = UndefinedUse::Kind::branch) {
    checker.on_undefined_use({kind, &program, launch.place(0, 0), pc, lanes, origin});
  }
  // Stores values that are undefined in `lanes`.
  void store_undefined(const FakeMemory& memory, std::uint32_t pc, std::uint32_t lanes,
                       std::uint32_t origin) {
    Access row = launch.access(kWrite, memory, 0, 0, pc);
    row.mask = ~0u;
    row.pattern = Pattern::strided;
    for (unsigned lane = 0; lane < 32; ++lane) row.offset[lane] = 4 * lane;
    row.undefined = lanes;
    row.origin = origin;
    launch.emit(row);
  }
  const std::vector<Finding>& findings() { return reporter.findings(); }

  Program program = fake_program();
  Reporter reporter;
  UnwrittenMemory unwritten;
  const std::unique_ptr<Checker> owned = make_init_checker(reporter);
  Checker& checker = *owned;
  FakeLaunch launch{program, {&reporter, &checker, &unwritten}};
  FakeMemory shared{0, ptx::Space::shared, 256, "s"};
  FakeMemory global{1, ptx::Space::global, 1024, "g"};
  FakeMemory local{2, ptx::Space::local, 4096};
};

}  // namespace warpcheck::vgpu
