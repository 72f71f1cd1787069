#include "vgpu/cudart/copies/transfers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "vgpu/cudart/host_watch/signals_of_kernels.hpp"
#include "vgpu/cudart/testing/device_parts.hpp"

namespace warpcheck::cudart {
namespace {

using Events = std::vector<std::string>;

// Sixteen bytes of device memory, with values 0 to 15, and the host's copy of them.
struct SixteenBytes {
  SixteenBytes() {
    for (std::size_t i = 0; i < 16; ++i) host[i] = device[i] = static_cast<std::byte>(i);
    allocation.bytes = 16;
    allocation.data = device.data();
  }
  [[nodiscard]] Rows row(std::uint32_t offset, std::size_t bytes) const {
    return {&allocation, offset, 0, 0, {bytes}};
  }
  // A copy from the same place of the host's bytes.
  [[nodiscard]] Touch copy(std::uint32_t offset, std::size_t bytes) const {
    return {"cudaMemcpy",
            row(offset, bytes),
            true,
            {.from = Brought::From::host, .host = host.data() + offset}};
  }
  [[nodiscard]] Bytes bytes_at(std::size_t offset) const { return {host.data() + offset}; }

  std::array<std::byte, 16> host{}, device{};
  vgpu::Allocation allocation;
};

// ---- brings_the_same ----

TEST(BringsTheSame, OfTheHostsBytesThatAreStillThere) {
  const SixteenBytes all;
  EXPECT_TRUE(brings_the_same(all.copy(0, 8), all.copy(0, 8), all.bytes_at(0)));
}

TEST(BringsTheSame, OnlyWhereTheHostHasNotChangedThem) {
  SixteenBytes all;
  all.host[7] = std::byte{99};
  EXPECT_FALSE(brings_the_same(all.copy(0, 8), all.copy(0, 8), all.bytes_at(0)));
  EXPECT_TRUE(brings_the_same(all.copy(0, 7), all.copy(0, 8), all.bytes_at(0)));
}

// For single rows, only the bytes that both transfers write are compared.
TEST(BringsTheSame, OfRowsThatOverlap) {
  SixteenBytes all;
  all.host[3] = all.host[12] = std::byte{99};  // outside the common bytes, 4 to 11
  EXPECT_TRUE(brings_the_same(all.copy(0, 12), all.copy(4, 12), all.bytes_at(4)));
  EXPECT_TRUE(brings_the_same(all.copy(4, 12), all.copy(0, 12), all.bytes_at(0)));
  all.host[11] = std::byte{99};
  EXPECT_FALSE(brings_the_same(all.copy(0, 12), all.copy(4, 12), all.bytes_at(4)));
  EXPECT_FALSE(brings_the_same(all.copy(4, 12), all.copy(0, 12), all.bytes_at(0)));
}

TEST(BringsTheSame, OnlyFromOnePlaceOfTheHost) {
  const SixteenBytes all;
  const std::array<std::byte, 16> other = all.host;
  Touch elsewhere = all.copy(0, 8);
  elsewhere.brought.host = other.data();
  EXPECT_FALSE(brings_the_same(all.copy(0, 8), elsewhere, {other.data()}));
}

TEST(BringsTheSame, OfBoxesRowByRow) {
  SixteenBytes all;
  Touch box = all.copy(1, 2);
  box.rows.pitch = box.brought.pitch = 4;
  box.rows.box.height = 3;  // bytes 1, 2, 5, 6, 9, 10
  const Bytes bytes{all.host.data() + 1, 4, 0};
  all.host[3] = all.host[8] = all.host[11] = std::byte{99};  // between the rows
  EXPECT_TRUE(brings_the_same(box, box, bytes));
  Touch shorter = box;
  shorter.rows.box.height = 2;
  EXPECT_FALSE(brings_the_same(shorter, box, bytes));
  all.host[10] = std::byte{99};
  EXPECT_FALSE(brings_the_same(box, box, bytes));
}

TEST(BringsTheSame, OfFillsWithOneValue) {
  const SixteenBytes all;
  const auto fill = [&](std::uint32_t value, unsigned element_bytes) {
    return Touch{"cudaMemset",
                 all.row(0, 8),
                 true,
                 {.from = Brought::From::value, .value = value, .element_bytes = element_bytes}};
  };
  EXPECT_TRUE(brings_the_same(fill(7, 1), fill(7, 1), {}));
  EXPECT_FALSE(brings_the_same(fill(7, 1), fill(8, 1), {}));
  EXPECT_FALSE(brings_the_same(fill(7, 1), fill(7, 2), {}));
  EXPECT_FALSE(brings_the_same(fill(7, 1), all.copy(0, 8), all.bytes_at(0)));
}

TEST(BringsTheSame, NeverWhatComesFromTheDevice) {
  const SixteenBytes all;
  const Touch moved{"cudaMemcpy", all.row(0, 8), true};
  EXPECT_FALSE(brings_the_same(moved, moved, {}));
}

// ---- findings ----

class TransfersOfStreams : public testing::Test, protected DeviceParts, protected SixteenBytes {
 protected:
  // Adds an operation of another stream.
  OperationPtr operation(const std::vector<OperationPtr>& after = {}) {
    return operations_.add(EmptyWork{}, after, 0);
  }
  void write(const Operation& by, std::uint32_t offset, std::size_t bytes) {
    const Touch touch = copy(offset, bytes);
    transfers_.host_write("cudaMemcpyAsync", touch.rows, by, touch.brought, bytes_at(offset));
  }

  Operations operations_;
  Transfers transfers_{observers, findings};
};

TEST_F(TransfersOfStreams, AreToldWithTheLaunchesThatNothingOrders) {
  const OperationPtr first = operation(), second = operation();
  transfers_.launched(5, *second);
  transfers_.launched(3, *first);
  transfers_.host_read("cudaMemcpyAsync", row(0, 4), *operation({first}));
  transfers_.host_read("cudaMemcpyAsync", row(4, 4), *operation());
  transfers_.host_read("cudaMemcpyAsync", row(8, 4), *operation({first, second}));
  EXPECT_EQ(events.events, (Events{"host read 0+4, unordered 5",
                                   "host read 4+4, unordered 3, unordered 5", "host read 8+4"}));
}

TEST_F(TransfersOfStreams, AreToldRowByRow) {
  Rows box = row(1, 2);
  box.pitch = 4;
  box.slice = 8;
  box.box.height = box.box.depth = 2;
  transfers_.host_read("cudaMemcpy3D", box, *operation());
  EXPECT_EQ(events.events,
            (Events{"host read 1+2", "host read 5+2", "host read 9+2", "host read 13+2"}));
}

TEST_F(TransfersOfStreams, AreToldAgainWhenALaunchIsNotOrderedWithThem) {
  const OperationPtr copied = operation();
  write(*copied, 4, 8);
  events.events.clear();
  transfers_.launched(0, *operation({copied}));
  EXPECT_EQ(events.events, Events{});
  transfers_.launched(1, *operation());
  EXPECT_EQ(events.events, (Events{"late write 4+8, unordered 1"}));
}

// The launch polls the first word.
class TransfersBesideASuspendedLaunch : public TransfersOfStreams {
 protected:
  static constexpr std::uint32_t kLaunch = 7;
  TransfersBesideASuspendedLaunch() {
    allocation.address = vgpu::kMappedBase;
    vgpu::Access poll;
    poll.space = ptx::Space::global;
    poll.kind = vgpu::AccessKind::read;
    poll.order = ptx::Order::relaxed;
    poll.allocation = &allocation;
    poll.bytes = 4;
    poll.mask = 1;
    signals_.begin(kLaunch);
    signals_.on_access(poll);
    transfers_.suspended(*kernel_);
  }
  void host_writes(std::uint32_t offset, const OperationPtr& step) {
    Touch touch{.rows = row(offset, 4), .write = true, .place = &place_};
    touch.number = transfers_.next_number();
    transfers_.host_touch(touch, *step, {});
  }
  Events beside() {
    events.events.clear();
    transfers_.ran_on(kLaunch, *kernel_, signals_);
    return events.events;
  }

  const OperationPtr kernel_ = operation();
  const vgpu::HostPlace place_;
  vgpu::DeviceMemory memory_;
  SignalsOfKernels signals_{memory_};
};

TEST_F(TransfersBesideASuspendedLaunch, AreOrderedBeforeASignal) {
  host_writes(8, operation());
  host_writes(0, operation());
  EXPECT_EQ(beside(), Events{});
}

TEST_F(TransfersBesideASuspendedLaunch, AreNotOrderedBehindTheLatestSignal) {
  host_writes(8, operation());
  host_writes(0, operation());
  host_writes(12, operation());
  EXPECT_EQ(beside(), (Events{"late write 12+4, unordered 7"}));
}

TEST_F(TransfersBesideASuspendedLaunch, MayKnowWhatItHasSignalled) {
  host_writes(0, operation());
  host_writes(12, operation({kernel_}));
  EXPECT_EQ(beside(), Events{});
}

TEST_F(TransfersOfStreams, RaceWhereTheyShareAByteThatOneWrites) {
  transfers_.host_read("cudaMemcpyAsync", row(0, 8), *operation());
  transfers_.host_read("cudaMemcpyAsync", row(0, 8), *operation());
  write(*operation(), 8, 8);
  EXPECT_TRUE(found().empty());
  write(*operation(), 7, 1);
  ASSERT_EQ(found().size(), 1u);  // one finding for both reads
  EXPECT_EQ(found()[0].kind, vgpu::FindingKind::data_race);
  EXPECT_EQ(found()[0].severity, vgpu::Severity::error);
  EXPECT_EQ(found()[0].object, "allocation of 16 bytes [7]");
  EXPECT_EQ(found()[0].message,
            "nothing orders cudaMemcpyAsync (1) and cudaMemcpyAsync (2): they are in different "
            "streams");
}

TEST_F(TransfersOfStreams, ThatBringTheSameAreNoted) {
  write(*operation(), 0, 8);
  write(*operation(), 4, 8);
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].severity, vgpu::Severity::note);
}

TEST_F(TransfersOfStreams, WithinTheDeviceReadAndWrite) {
  vgpu::Allocation other;
  other.bytes = 16;
  transfers_.device_copy("cudaMemcpyAsync", {&other, 2, 0, 0, {4}}, row(8, 4), *operation());
  EXPECT_EQ(events.events, (Events{"copy 8 to 2, 4 bytes"}));
  transfers_.host_read("cudaMemcpyAsync", row(8, 4), *operation());
  EXPECT_TRUE(found().empty());
  transfers_.host_read("cudaMemcpyAsync", {&other, 5, 0, 0, {1}}, *operation());
  EXPECT_EQ(found().size(), 1u);
}

TEST_F(TransfersOfStreams, MayNotCopyToWhatTheyRead) {
  const OperationPtr alone = operation();
  transfers_.device_copy("cudaMemcpy", row(0, 4), row(4, 4), *alone);
  transfers_.device_copy("cudaMemcpy", row(4, 4), row(4, 4), *alone);  // stays where it is
  // two rows of two bytes, beside each other
  transfers_.device_copy("cudaMemcpy2D", {&allocation, 2, 4, 0, {2, 2}},
                         {&allocation, 0, 4, 0, {2, 2}}, *alone);
  EXPECT_TRUE(found().empty());
  transfers_.device_copy("cudaMemcpy", row(2, 4), row(5, 4), *alone);
  ASSERT_EQ(found().size(), 1u);
  const vgpu::Finding& overlap = found()[0];
  EXPECT_EQ(overlap.kind, vgpu::FindingKind::data_race);
  EXPECT_EQ(overlap.severity, vgpu::Severity::error);
  EXPECT_EQ(overlap.lack, vgpu::Lack::separate_memory);
  EXPECT_EQ(overlap.object, "allocation of 16 bytes [5]");
  EXPECT_EQ(overlap.message,
            "cudaMemcpy may not copy between places that overlap: nothing orders its reads (1) and "
            "its writes (2)");
  ASSERT_EQ(overlap.accesses.size(), 2u);
  EXPECT_EQ(overlap.accesses[0].role, "host copy");
  EXPECT_EQ(overlap.accesses[1].role, "host write");
}

TEST_F(TransfersOfStreams, AFreeIsAWriteOfAll) {
  const OperationPtr launched = operation();
  transfers_.launched(4, *launched);
  transfers_.free("cudaFreeAsync", allocation, *operation({launched}));
  EXPECT_EQ(events.events, Events{});
  transfers_.free("cudaFreeAsync", allocation, *operation());
  EXPECT_EQ(events.events, (Events{"host free 0+16, unordered 4"}));
}

TEST_F(TransfersOfStreams, AnAllocationComesBeforeEveryUse) {
  const OperationPtr allocated = operation();
  transfers_.launched(3, *operation());
  transfers_.allocate("cudaMallocAsync", allocation, *allocated);
  transfers_.launched(4, *operation({allocated}));
  EXPECT_EQ(events.events, (Events{"late allocation 0+16, unordered 3"}));
  transfers_.launched(5, *operation());
  EXPECT_EQ(events.events.back(), "late allocation 0+16, unordered 5");
  transfers_.host_read("cudaMemcpyAsync", row(0, 4), *operation({allocated}));
  EXPECT_TRUE(found().empty());
  transfers_.host_read("cudaMemcpyAsync", row(0, 4), *operation());
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].accesses[0].role, "host allocation");
  EXPECT_EQ(found()[0].message,
            "nothing orders cudaMallocAsync (1) and cudaMemcpyAsync (2): they are in different "
            "streams");
}

TEST_F(TransfersOfStreams, AFreeMustComeAfterTheAllocation) {
  transfers_.allocate("cudaMallocAsync", allocation, *operation());
  transfers_.free("cudaFreeAsync", allocation, *operation());
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].message,
            "nothing orders cudaMallocAsync (1) and cudaFreeAsync (2): they are in different "
            "streams");
}

TEST_F(TransfersOfStreams, AFreeAfterTheAllocationIsFine) {
  const OperationPtr allocated = operation();
  transfers_.allocate("cudaMallocAsync", allocation, *allocated);
  transfers_.free("cudaFreeAsync", allocation, *operation({allocated}));
  EXPECT_TRUE(found().empty());
}

TEST_F(TransfersOfStreams, AFreeThatRacesWithAUseIsOneFinding) {
  const OperationPtr allocated = operation();
  transfers_.allocate("cudaMallocAsync", allocation, *allocated);
  transfers_.host_read("cudaMemcpyAsync", row(0, 4), *operation({allocated}));
  transfers_.free("cudaFreeAsync", allocation, *operation());
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].accesses[0].role, "host copy");
}

TEST_F(TransfersOfStreams, GiveUnorderedLaunchesInTheirSequence) {
  std::array<OperationPtr, 5> last;  // of five streams
  std::uint32_t launch = 0;
  for (int round = 0; round < 7; ++round) {
    for (std::size_t stream = 0; stream < last.size(); ++stream) {
      if (round % 3 == 1 && stream % 2 == 0) continue;  // the streams do not just alternate
      last.at(stream) = operation({last.at(stream)});
      transfers_.launched(launch++, *last.at(stream));
    }
  }
  std::vector<std::uint32_t> all(launch);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(transfers_.unordered_launches(*operation()), all);
  operations_.host_waited_for(*last[4]);
  const std::vector<std::uint32_t> others = transfers_.unordered_launches(*operation());
  EXPECT_EQ(others.size(), launch - 5u);  // of which it has 5: not in rounds 1 and 4
  EXPECT_TRUE(std::ranges::is_sorted(others));
  EXPECT_TRUE(transfers_.unordered_launches(*operation({last.begin(), last.end()})).empty());
}

TEST_F(TransfersOfStreams, ThatTheHostHasWaitedForAreForgotten) {
  const OperationPtr copied = operation(), launched = operation(), other = operation();
  write(*copied, 0, 8);
  transfers_.launched(0, *launched);
  operations_.host_waited_for(*copied);
  transfers_.forget(operations_.known_to_host());
  EXPECT_EQ(transfers_.unordered_launches(*other), (std::vector<std::uint32_t>{0}));
  transfers_.host_read("cudaMemcpyAsync", row(0, 8), *other);
  EXPECT_TRUE(found().empty());
  operations_.host_waited_for(*launched);
  transfers_.forget(operations_.known_to_host());
  EXPECT_TRUE(transfers_.unordered_launches(*other).empty());
}

}  // namespace
}  // namespace warpcheck::cudart
