// The registry of checkers, and the checkers that turn one event into one finding.
#include "vgpu/check/checkers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "vgpu/check/bounds.hpp"
#include "vgpu/check/fake_launch.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

class CheckersTest : public testing::Test {
 protected:
  template <typename Notify>
  void notify(Notify&& notify_one) {
    for (Observer* observer : checkers.observers()) notify_one(*observer);
  }
  void start() {
    Sync sync;
    sync.program = &program;
    sync.grid = {4, 1, 1};
    sync.block = {64, 1, 1};
    notify([&](Observer& observer) { observer.on_sync(sync); });
  }
  Finding only() {
    EXPECT_EQ(checkers.findings().size(), 1u);
    return checkers.findings().empty() ? Finding{} : checkers.findings()[0];
  }
  Fault fault(Fault::Kind kind) {
    Fault fault;
    fault.kind = kind;
    fault.program = &program;
    fault.place = {2, 1, 0, 0};
    fault.pc = 7;
    fault.lane = 3;
    fault.space = ptx::Space::global;
    fault.access = AccessKind::write;
    fault.bytes = 4;
    fault.address = 0x1000 + 256;
    fault.nearest = &memory.allocation();
    return fault;
  }
  void emit(const Fault& event) {
    notify([&](Observer& observer) { observer.on_fault(event); });
  }

  Program program = fake_program();
  FakeMemory memory{0, ptx::Space::global, 256, "in"};
  Checkers checkers{CheckerSet{}, WarpModel::independent};
};

TEST_F(CheckersTest, OutOfBounds) {
  memory.allocation().address = 0x1000;
  start();
  emit(fault(Fault::Kind::out_of_bounds));
  const Finding finding = only();
  EXPECT_EQ(finding.kind, FindingKind::out_of_bounds);
  EXPECT_EQ(finding.space, "global");
  EXPECT_EQ(finding.object, "4 bytes, 0 bytes past the end of in (256 bytes)");
  const AccessSide side{"write", {2, 0, 0}, {35, 0, 0}, "k.cu", 107, "op7", "", 0, 7};
  EXPECT_EQ(finding.accesses, std::vector{side});
  EXPECT_EQ(finding.message, "(1) is outside every allocation");

  emit(fault(Fault::Kind::out_of_bounds));
  EXPECT_EQ(only().count, 2u);
}

// p[-1] and p[0] of a null pointer are not taken for a pointer that was never set.
TEST_F(CheckersTest, AddressesNearNullAndOthers) {
  memory.allocation().address = 0x1'0000'0000;
  start();
  Fault event = fault(Fault::Kind::out_of_bounds);
  const auto message_at = [&](std::uint64_t address) {
    ++event.pc;
    event.address = address;
    emit(event);
    return checkers.findings().back().message;
  };
  const std::string plain = "(1) is outside every allocation";
  const std::string nowhere = plain +
                              ": a pointer of the host, one that was never set, or an index that "
                              "has wrapped?";
  EXPECT_EQ(message_at(0), plain);
  EXPECT_EQ(message_at(0xffff'ffff'ffff'fffc), plain);
  EXPECT_EQ(message_at(0xffff'ffff'fff0'0000), plain);
  EXPECT_EQ(message_at(0xffff'ffff'ffef'ffff), nowhere);
  EXPECT_EQ(message_at(0x1234'5678'0000), nowhere);
  EXPECT_EQ(
      message_at(0x7ffd'0000'0000),
      plain +
          ": a pointer of the host (a variable, an array, malloc() or new)? Kernels need memory "
          "of cudaMalloc() or cudaMallocManaged()");
  EXPECT_EQ(message_at(memory.allocation().address + (std::uint64_t{4} << 32)),
            plain + ": an index of 32 bits has wrapped? 2^32 elements away lies in");
}

TEST_F(CheckersTest, Places) {
  memory.allocation().address = 0x1000;
  const Allocation& in = memory.allocation();
  EXPECT_EQ(host_copy_out_of_bounds("cudaMemcpy", false, 0x0ff0, 8, &in).object,
            "8 bytes, 16 bytes before in (256 bytes)");
  EXPECT_EQ(host_copy_out_of_bounds("cudaMemcpy", false, 0x10f0, 32, &in).object,
            "32 bytes at byte 240 of in (256 bytes)");
  EXPECT_EQ(host_copy_out_of_bounds("cudaMemset", true, 0x20, 8, nullptr).object,
            "8 bytes at address 0x20");
  EXPECT_EQ(host_copy_out_of_bounds("cudaMemset", true, 0x7f00'0000'0000, 8, &in).object,
            "8 bytes at address 0x7f0000000000");
  EXPECT_EQ(host_copy_out_of_bounds("cudaMemset", true, 0x20, 8, nullptr).message,
            "cudaMemset of 8 bytes is not inside one allocation");
}

TEST_F(CheckersTest, SharedAndLocalAddressesAreOffsets) {
  start();
  FakeMemory shared{1, ptx::Space::shared, 128};
  Fault event = fault(Fault::Kind::out_of_bounds);
  event.space = ptx::Space::shared;
  event.nearest = &shared.allocation();
  event.address = 0xfffffffc;
  emit(event);
  EXPECT_EQ(only().object, "4 bytes, 4 bytes before shared memory (128 bytes)");

  FakeMemory local{2, ptx::Space::local, 64 * kWarpLanes};
  event.pc = 8;
  event.space = ptx::Space::local;
  event.nearest = &local.allocation();
  event.address = 72;
  emit(event);
  EXPECT_EQ(checkers.findings()[1].object,
            "4 bytes, 8 bytes past the end of local memory (64 bytes a thread)");
}

// Accesses to existing memory, but outside the object that the address was made from.
TEST_F(CheckersTest, StrayAccesses) {
  start();
  FakeMemory shared{1, ptx::Space::shared, 512};
  shared.allocation().symbols = {{"a", 0, 256}, {"b", 256, 128}, {"rest", 384, 0}};
  Fault event = fault(Fault::Kind::out_of_bounds);
  event.space = ptx::Space::shared;
  event.nearest = event.meant = &shared.allocation();
  const auto expect = [&](std::size_t symbol, std::uint64_t address, const std::string& object,
                          const std::string& message) {
    ++event.pc;
    event.symbol = &shared.allocation().symbols[symbol];
    event.address = address;
    emit(event);
    EXPECT_EQ(checkers.findings().back().kind, FindingKind::out_of_bounds);
    EXPECT_EQ(checkers.findings().back().object, object);
    EXPECT_EQ(checkers.findings().back().message, message);
  };
  expect(0, 268, "4 bytes, 12 bytes past the end of a (256 bytes)",
         "the address of (1) is made from a, but is in b[3]");
  expect(1, 252, "4 bytes, 4 bytes before b (128 bytes)",
         "the address of (1) is made from b, but is in a[63]");
  expect(2, 380, "4 bytes, 4 bytes before rest (128 bytes)",
         "the address of (1) is made from rest, but is in b[31]");
  expect(1, 512, "4 bytes, 0 bytes past the end of shared memory (512 bytes)",
         "(1) is outside every allocation");

  FakeMemory other{2, ptx::Space::global, 64};
  other.allocation().address = 0x2000;
  memory.allocation().address = 0x1000;
  event.space = ptx::Space::global;
  event.symbol = nullptr;
  event.pc = 20;
  event.meant = &memory.allocation();
  event.nearest = &other.allocation();
  event.address = 0x2008;
  emit(event);
  EXPECT_EQ(checkers.findings().back().object,
            "4 bytes, 3848 bytes past the end of in (256 bytes)");
  EXPECT_EQ(checkers.findings().back().message,
            "the address of (1) is made from in, but is in an allocation of 64 bytes [2]");
  EXPECT_EQ(checkers.findings().back().space, "global");
}

TEST_F(CheckersTest, AnAccessOfOneByte) {
  start();
  FakeMemory flag{1, ptx::Space::shared, 1};
  Fault event = fault(Fault::Kind::out_of_bounds);
  event.space = ptx::Space::shared;
  event.nearest = &flag.allocation();
  event.bytes = 1;
  event.address = 2;
  emit(event);
  EXPECT_EQ(only().object, "1 byte, 1 byte past the end of shared memory (1 byte)");
}

TEST_F(CheckersTest, EveryFaultHasItsKind) {
  start();
  emit(fault(Fault::Kind::misaligned));
  emit(fault(Fault::Kind::read_only));
  emit(fault(Fault::Kind::use_after_free));
  ASSERT_EQ(checkers.findings().size(), 3u);
  EXPECT_EQ(checkers.findings()[0].kind, FindingKind::misaligned_access);
  EXPECT_EQ(checkers.findings()[0].message, "the address of (1) is not a multiple of 4");
  EXPECT_EQ(checkers.findings()[1].kind, FindingKind::out_of_bounds);
  EXPECT_EQ(checkers.findings()[1].message, "(1) writes read-only memory");
  EXPECT_EQ(checkers.findings()[2].kind, FindingKind::use_after_free);
}

TEST_F(CheckersTest, BarrierMissedByAThreadThatExited) {
  start();
  BarrierDivergence event;
  event.program = &program;
  event.place = {1, 1, 0, 0};
  event.pc = 10;
  event.lane = 2;
  event.reason = BarrierDivergence::Reason::exited;
  event.other_pc = 12;
  event.other_warp = 0;
  event.other_lane = 31;
  notify([&](Observer& observer) { observer.on_barrier_divergence(event); });
  EXPECT_TRUE(checkers.findings().empty());
  checkers.reset({.portable = true}, WarpModel::independent);
  start();
  notify([&](Observer& observer) { observer.on_barrier_divergence(event); });
  const Finding finding = only();
  EXPECT_EQ(finding.kind, FindingKind::barrier_divergence);
  EXPECT_EQ(finding.severity, Severity::note);
  const AccessSide waiting{"wait", {1, 0, 0}, {34, 0, 0}, "k.cu", 110, "op10", "", 0, 10};
  const AccessSide exited{"exit", {1, 0, 0}, {31, 0, 0}, "k.cu", 112, "op12", "", 0, 12};
  EXPECT_EQ(finding.accesses, (std::vector{waiting, exited}));
  EXPECT_EQ(finding.message,
            "(1) waits for all threads of its block, and (2) has exited: devices before sm_70 need "
            "every thread of a warp that waits");
}

TEST_F(CheckersTest, DifferentBarriers) {
  start();
  BarrierDivergence event;
  event.program = &program;
  event.pc = 10;
  event.other_pc = 12;
  notify([&](Observer& observer) { observer.on_barrier_divergence(event); });
  EXPECT_EQ(only().accesses[1].role, "wait");
  EXPECT_EQ(only().message, "(1) and (2) wait at different barriers");
}

TEST_F(CheckersTest, StepLimitIsADeadlock) {
  start();
  StepLimit event;
  event.program = &program;
  event.pc = 5;
  event.steps = 1000;
  notify([&](Observer& observer) { observer.on_step_limit(event); });
  EXPECT_EQ(only().kind, FindingKind::deadlock);
  EXPECT_EQ(only().accesses[0].line, 105u);
  EXPECT_EQ(only().message,
            "no end after 1000 warp instructions, the limit, though it may end later: (1) is where "
            "a warp was last");
}

TEST_F(CheckersTest, AMisusedWarpOperationHasOneSideOrTwo) {
  start();
  BarrierDivergence event;
  event.program = &program;
  event.place = {1, 1, 0, 0};
  event.pc = 10;
  event.lane = 2;
  event.reason = BarrierDivergence::Reason::not_a_member;
  notify([&](Observer& observer) { observer.on_barrier_divergence(event); });
  event.reason = BarrierDivergence::Reason::elsewhere;
  event.other_pc = 12;
  event.other_warp = 1;
  event.other_lane = 5;
  notify([&](Observer& observer) { observer.on_barrier_divergence(event); });
  ASSERT_EQ(checkers.findings().size(), 2u);
  const AccessSide waiting{"wait", {1, 0, 0}, {34, 0, 0}, "k.cu", 110, "op10", "", 0, 10};
  const AccessSide elsewhere{"wait", {1, 0, 0}, {37, 0, 0}, "k.cu", 112, "op12", "", 0, 12};
  EXPECT_EQ(checkers.findings()[0].accesses, std::vector{waiting});
  EXPECT_EQ(checkers.findings()[0].message,
            "(1) takes part in an operation of its warp whose mask does not name it");
  EXPECT_EQ(checkers.findings()[1].accesses, (std::vector{waiting, elsewhere}));
  EXPECT_EQ(checkers.findings()[1].message,
            "(1) waits for a lane of its warp that waits elsewhere, (2)");
}

TEST_F(CheckersTest, ADeadlockSaysWhoWaitsForWhat) {
  start();
  Waiting first;
  first.place = {1, 0, 0, 0};
  first.pc = 10;
  first.lanes = 0xff;
  first.number = 3;
  first.arrived = 40;
  first.expected = 96;
  Waiting second = first;  // another warp at the same barrier
  second.place.warp = 1;
  second.lanes = ~0u;
  Waiting third;
  third.kind = Waiting::Kind::exited;
  third.place = {1, 0, 0, 0};
  third.pc = 12;
  third.lanes = 0xff00;
  const Waiting waiting[] = {first, third, second};
  Deadlock event;
  event.program = &program;
  event.waiting = waiting;
  notify([&](Observer& observer) { observer.on_deadlock(event); });
  const Finding finding = only();
  EXPECT_EQ(finding.kind, FindingKind::deadlock);
  const AccessSide waits{"wait", {1, 0, 0}, {0, 0, 0}, "k.cu", 110, "op10", "", 0, 10};
  const AccessSide exited{"exit", {1, 0, 0}, {8, 0, 0}, "k.cu", 112, "op12", "", 0, 12};
  EXPECT_EQ(finding.accesses, (std::vector{waits, exited}));
  EXPECT_EQ(finding.message,
            "no thread of the block can go on: (1) 40 threads wait at barrier 3, at which 40 of 96 "
            "threads have arrived; (2) 8 threads have exited");
}

TEST_F(CheckersTest, PollingThreadsAreNamedBeforeThoseThatWaitForThem) {
  start();
  Waiting behind;
  behind.kind = Waiting::Kind::members;
  behind.pc = 9;
  behind.lanes = 1;
  behind.missing = 2;
  Waiting polls;
  polls.kind = Waiting::Kind::reads;
  polls.pc = 5;
  polls.lanes = 2;
  polls.allocation = &memory.allocation();
  polls.offset = 8;
  polls.bytes = 4;
  polls.value = 7;
  const Waiting waiting[] = {behind, polls};
  StepLimit event;
  event.program = &program;
  event.steps = 1000;
  event.waiting = waiting;
  event.blocks_not_started = 3;
  notify([&](Observer& observer) { observer.on_step_limit(event); });
  ASSERT_EQ(only().accesses.size(), 2u);
  EXPECT_EQ(only().accesses[0].role, "spin");
  EXPECT_EQ(only().accesses[0].line, 105u);
  EXPECT_EQ(only().accesses[1].role, "wait");
  EXPECT_EQ(only().message,
            "no end after 1000 warp instructions, the limit, though it may end later: (1) 1 thread "
            "reads " +
                describe(memory.allocation(), 8, 4) +
                ", 4 bytes, again and again, which holds 0x7; (2) 1 thread waits for lanes "
                "0x00000002 of the same warp; 3 blocks start only when others have ended");
}

TEST_F(CheckersTest, ADeadlockAtAnMbarrierSaysWhatIsMissing) {
  const auto message_with = [&](std::int32_t missing_bytes) {
    start();
    Waiting waiting;
    waiting.kind = Waiting::Kind::object;
    waiting.place = {0, 0, 0, 0};
    waiting.pc = 5;
    waiting.lanes = ~0u;
    waiting.allocation = &memory.allocation();
    waiting.bytes = 8;
    waiting.expected = waiting.arrived = 1;
    waiting.missing_bytes = missing_bytes;
    Deadlock event;
    event.program = &program;
    event.waiting = {&waiting, 1};
    event.of_launch = true;
    notify([&](Observer& observer) { observer.on_deadlock(event); });
    const std::string message = only().message;
    const auto end = message.find("which has");
    checkers.reset({}, WarpModel::independent);
    return message.substr(end);
  };
  EXPECT_EQ(message_with(0), "which has 1 of 1 arrivals");
  EXPECT_EQ(message_with(512),
            "which has 1 of 1 arrivals, and lacks 512 bytes of asynchronous copies");
  EXPECT_EQ(message_with(1), "which has 1 of 1 arrivals, and lacks 1 byte of asynchronous copies");
  EXPECT_EQ(message_with(-16),
            "which has 1 of 1 arrivals, and has received 16 bytes more than it expects");
  EXPECT_EQ(message_with(-1),
            "which has 1 of 1 arrivals, and has received 1 byte more than it expects");
}
TEST_F(CheckersTest, ADeadlockOfTheLaunchNamesWhoHoldsWhat) {
  start();
  // Two threads, each of which holds the lock that the other one wants.
  Waiting first;
  first.kind = Waiting::Kind::reads;
  first.place = {0, 0, 0, 0};
  first.pc = 5;
  first.lanes = 1;
  first.allocation = &memory.allocation();
  first.offset = 8;
  first.bytes = 4;
  first.value = 1;
  first.written = {{1, 1, 0, 0}, 3, 5, false};
  Waiting second = first;
  second.place = {1, 1, 0, 0};
  second.lanes = 1u << 3;
  second.offset = 4;
  second.written = {{2, 0, 0, 0}, 7, 6, true};
  const Waiting waiting[] = {first, second};
  Deadlock event;
  event.program = &program;
  event.waiting = waiting;
  event.of_launch = true;
  event.blocks_not_started = 2;
  notify([&](Observer& observer) { observer.on_deadlock(event); });
  const AccessSide spins{"spin", {0, 0, 0}, {0, 0, 0}, "k.cu", 105, "op5", "", 0, 5};
  const AccessSide too{"spin", {1, 0, 0}, {35, 0, 0}, "k.cu", 105, "op5", "", 0, 5};
  const AccessSide holds{"write", {1, 0, 0}, {35, 0, 0}, "k.cu", 105, "op5", "", 0, 5};
  const AccessSide gone{"write", {2, 0, 0}, {7, 0, 0}, "k.cu", 106, "op6", "", 0, 6};
  EXPECT_EQ(only().accesses, (std::vector{spins, too, holds, gone}));
  const std::string at8 = describe(memory.allocation(), 8, 4);
  const std::string at4 = describe(memory.allocation(), 4, 4);
  EXPECT_EQ(only().message,
            "no thread of the launch can go on, whoever runs first: (1) 1 thread reads " + at8 +
                ", 4 bytes, again and again, which holds 0x1 since (3), whose thread is at (2); "
                "(2) 1 thread reads " +
                at4 +
                ", 4 bytes, again and again, which holds 0x1 since (4), whose thread has exited; "
                "2 blocks start only when others have ended");
}

TEST_F(CheckersTest, AVariableInSharedMemoryIsOnePlace) {
  start();
  FakeMemory first{1, ptx::Space::shared, 128}, second{2, ptx::Space::shared, 128};
  std::vector<Waiting> waiting(2);
  for (std::uint32_t block = 0; block < waiting.size(); ++block) {
    waiting[block].kind = Waiting::Kind::reads;
    waiting[block].place = {block, 0, block, 0};
    waiting[block].pc = 5;
    waiting[block].lanes = 1;
    waiting[block].allocation = block == 0 ? &first.allocation() : &second.allocation();
    waiting[block].bytes = 4;
  }
  Deadlock event;
  event.program = &program;
  event.waiting = waiting;
  event.of_launch = true;
  notify([&](Observer& observer) { observer.on_deadlock(event); });
  EXPECT_EQ(only().accesses.size(), 1u);
  EXPECT_NE(only().message.find("(1) 2 threads of 2 blocks read"), std::string::npos);
}

TEST_F(CheckersTest, ManyPlacesAreOneGroup) {
  start();
  std::vector<Waiting> waiting(6);
  for (std::uint32_t block = 0; block < waiting.size(); ++block) {
    waiting[block].kind = Waiting::Kind::reads;
    waiting[block].place = {block % 4, 0, 0, 0};
    waiting[block].pc = 5;
    waiting[block].lanes = 3;
    waiting[block].allocation = &memory.allocation();
    waiting[block].offset = 4 * block;
    waiting[block].bytes = 4;
  }
  std::ranges::stable_sort(waiting, {}, [](const Waiting& one) { return one.place.block; });
  Deadlock event;
  event.program = &program;
  event.waiting = waiting;
  event.of_launch = event.host_waits = true;
  notify([&](Observer& observer) { observer.on_deadlock(event); });
  EXPECT_EQ(only().accesses.size(), 1u);
  EXPECT_EQ(
      only().message,
      "no thread of the launch can go on, whoever runs first: (1) 12 threads of 4 blocks read " +
          describe(memory.allocation(), 0, 4) +
          ", 4 bytes (and 5 other places), again and again, which holds 0x0; the host could "
          "write there, but waits for the launch");
}

TEST_F(CheckersTest, Trap) {
  start();
  Trap event;
  event.program = &program;
  event.pc = 5;
  event.lanes = 0b1000;
  notify([&](Observer& observer) { observer.on_trap(event); });
  EXPECT_EQ(only().kind, FindingKind::trap);
  EXPECT_EQ(only().accesses[0].thread, (Dim3{3, 0, 0}));
}

TEST_F(CheckersTest, WhatIsOffIsSilent) {
  checkers.reset(
      {.race = false, .bounds = false, .init = false, .barrier = false, .lifetime = false},
      WarpModel::independent);
  EXPECT_EQ(checkers.observers().size(), 3u);  // the reporter, deadlock, trap
  start();
  emit(fault(Fault::Kind::out_of_bounds));
  emit(fault(Fault::Kind::use_after_free));
  EXPECT_TRUE(checkers.findings().empty());

  checkers.reset({}, WarpModel::independent);
  EXPECT_EQ(checkers.observers().size(), 12u);  // also what memory knows of unwritten bytes
  start();
  emit(fault(Fault::Kind::out_of_bounds));
  EXPECT_EQ(checkers.findings().size(), 1u);
}

TEST_F(CheckersTest, AHostFindingOfACheckerThatIsOffIsDropped) {
  EXPECT_TRUE(checkers.add(host_copy_out_of_bounds("cudaMemcpy", true, 0x20, 8, nullptr)));
  EXPECT_EQ(checkers.findings().size(), 1u);
  checkers.reset({.bounds = false}, WarpModel::independent);
  EXPECT_FALSE(checkers.add(host_copy_out_of_bounds("cudaMemcpy", true, 0x20, 8, nullptr)));
  Finding finding;
  finding.kind = FindingKind::api_error;  // belongs to no checker
  EXPECT_TRUE(checkers.add(finding));
  EXPECT_EQ(checkers.findings().size(), 1u);
}

TEST(CheckerRows, AreNamedAndExplained) {
  std::vector<std::string_view> names;
  for (const CheckerRow& row : kCheckers) {
    names.push_back(row.name);
    EXPECT_EQ((CheckerSet{}).*row.enabled, row.by_default);
    EXPECT_NE(checkers_help().find(std::string(row.name) + " (" + std::string(row.help) + ")"),
              std::string::npos);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"race", "bounds", "init", "barrier", "lifetime",
                                                  "numerics", "precision"}));
}

TEST_F(CheckersTest, FindingsComeInOrderOfFirstOccurrence) {
  start();
  emit(fault(Fault::Kind::misaligned));
  checkers.add(host_copy_out_of_bounds("cudaMemcpy", true, 0x20, 8, nullptr));
  emit(fault(Fault::Kind::out_of_bounds));
  emit(fault(Fault::Kind::misaligned));
  checkers.add(host_copy_out_of_bounds("cudaMemcpy", true, 0x20, 8, nullptr));
  ASSERT_EQ(checkers.findings().size(), 3u);
  EXPECT_EQ(checkers.findings()[0].kind, FindingKind::misaligned_access);
  EXPECT_EQ(checkers.findings()[0].count, 2u);
  EXPECT_EQ(checkers.findings()[1].count, 2u);
  EXPECT_EQ(checkers.findings()[1].accesses[0].role, "host write");
  EXPECT_EQ(checkers.findings()[2].accesses[0].role, "write");
}

TEST_F(CheckersTest, ManyDifferentFindingsAreKeptApart) {
  start();
  for (std::uint32_t pc = 0; pc < 60; ++pc) {
    for (const auto kind : {Fault::Kind::misaligned, Fault::Kind::out_of_bounds}) {
      Fault event = fault(kind);
      event.pc = pc;
      emit(event);
      emit(event);
    }
  }
  ASSERT_EQ(checkers.findings().size(), 120u);
  for (const Finding& finding : checkers.findings()) EXPECT_EQ(finding.count, 2u);
}

TEST_F(CheckersTest, AToolkitHeaderIsNotTheUsersLine) {
  for (const char* const header :
       {"/opt/cuda/targets/x86_64-linux/include/device_atomic_functions.hpp",
        "/usr/local/cuda/include/device_atomic_functions.hpp",
        "/usr/local/cuda-13.0/include/cccl/cub/block/block_scan.cuh", "/usr/include/crt/math.h"}) {
    checkers.reset({}, WarpModel::independent);
    program = fake_program();
    program.files.emplace_back(header);
    program.locations.push_back({.file = 1, .line = 42});
    program.sources[7].location = {.file = 2, .line = 107, .column = 3, .inlined_at = 0};
    start();
    emit(fault(Fault::Kind::out_of_bounds));
    EXPECT_EQ(only().accesses[0].file, "k.cu") << header;
    EXPECT_EQ(only().accesses[0].line, 42u) << header;
  }
}

TEST_F(CheckersTest, TheUsersOwnHeadersAreTheUsersLines) {
  program.files.emplace_back("project/include/scan.cuh");
  program.locations.push_back({.file = 1, .line = 42});
  program.sources[7].location = {.file = 2, .line = 8, .column = 3, .inlined_at = 0};
  start();
  emit(fault(Fault::Kind::out_of_bounds));
  EXPECT_EQ(only().accesses[0].file, "project/include/scan.cuh");
}

TEST_F(CheckersTest, ALibraryFunctionThatIsCalledOnceHasItsCallersLine) {
  program.files.emplace_back("/usr/local/cuda/include/device_atomic_functions.hpp");
  program.sources[6].location = {.file = 2, .line = 106};
  program.sources[7].location = {.file = 2, .line = 107};
  program.functions = {{.name = "k", .entry = 0}, {.name = "atomicAdd", .entry = 6}};
  program.code[3].kind = InstrKind::call;
  program.code[3].function = 1;
  start();
  emit(fault(Fault::Kind::out_of_bounds));
  EXPECT_EQ(only().accesses[0].file, "k.cu");
  EXPECT_EQ(only().accesses[0].line, 103u);
  EXPECT_EQ(only().accesses[0].ptx, "op7");

  program.code[4] = program.code[3];  // a second call; the caller cannot be determined then
  program.code[4].source = 4;
  checkers.reset({}, WarpModel::independent);
  start();
  emit(fault(Fault::Kind::out_of_bounds));
  EXPECT_EQ(only().accesses[0].line, 107u);
}

}  // namespace
}  // namespace warpcheck::vgpu
