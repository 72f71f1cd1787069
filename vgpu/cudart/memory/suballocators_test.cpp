#include "vgpu/cudart/memory/suballocators.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warpcheck::cudart {
namespace {

class OfAProgram : public testing::Test {
 protected:
  Suballocators::Ended note() {
    return [this](const vgpu::Allocation& object) { ended_.push_back(object.name); };
  }
  const vgpu::Allocation* region(std::uint64_t heap, std::uint64_t offset, std::uint64_t bytes,
                                 const std::string& name) {
    const Suballocators::Added added =
        suballocators_.add_region(memory_, heap, {pool_->address + offset, bytes});
    if (added.region != nullptr) suballocators_.name(memory_, {true, added.number}, name);
    number_ = added.number;
    return added.region;
  }
  const vgpu::Allocation* at(std::uint64_t offset) {
    return memory_.object_at(pool_->address + offset);
  }

  vgpu::DeviceMemory memory_;
  vgpu::Allocation* pool_ = memory_.allocate(4096);
  Suballocators suballocators_;
  std::vector<std::string> ended_;
  std::uint64_t number_ = 0;
};

TEST_F(OfAProgram, APoolHasOnlyItsRegions) {
  const std::uint64_t heap = pool_->address;
  EXPECT_EQ(at(0), pool_);
  ASSERT_TRUE(suballocators_.add_heap(memory_, {heap, 4096}, true, "arena"));
  EXPECT_EQ(at(0), nullptr);
  const vgpu::Allocation* const one = region(heap, 256, 128, "one");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(at(256), one);
  EXPECT_EQ(at(384), nullptr);
  EXPECT_EQ(one->id, pool_->id);
  EXPECT_EQ(one->data, pool_->data + 256);
  EXPECT_EQ(memory_.find(heap + 256), pool_);
  EXPECT_EQ(suballocators_.handed_out(), (std::vector{one}));
  EXPECT_TRUE(suballocators_.end_region(memory_, {false, heap + 256}, note()));
  EXPECT_EQ(ended_, (std::vector<std::string>{"one"}));
  EXPECT_EQ(Suballocators::find_gone(memory_, heap + 256), one);
  EXPECT_FALSE(suballocators_.end_region(memory_, {false, heap + 256}, note()));
  EXPECT_TRUE(suballocators_.handed_out().empty());
}

TEST_F(OfAProgram, RegionsOutsideTheirHeapAndOfUnknownHeapsAreRefused) {
  const std::uint64_t heap = pool_->address;
  EXPECT_EQ(region(heap, 0, 16, "no heap"), nullptr);
  suballocators_.add_heap(memory_, {heap, 2048}, true, "arena");
  EXPECT_EQ(region(heap, 2040, 16, "across its end"), nullptr);
  EXPECT_FALSE(suballocators_.add_heap(memory_, {heap + 4000, 200}, true, "past the memory"));
  EXPECT_EQ(at(2048), pool_);
}

TEST_F(OfAProgram, TheLatestOfSeveralRegionsAtAnAddressIsMeant) {
  const std::uint64_t heap = pool_->address;
  suballocators_.add_heap(memory_, {heap, 4096}, true, "arena");
  region(heap, 0, 1024, "outer");
  const std::uint64_t outer = number_;
  suballocators_.add_heap(memory_, {heap, 1024}, true, "nested");
  const vgpu::Allocation* const inner = region(heap, 0, 64, "inner");
  EXPECT_EQ(at(0), inner);
  EXPECT_EQ(at(64), nullptr);
  EXPECT_EQ(suballocators_.find(memory_, {false, heap}), inner);
  EXPECT_TRUE(suballocators_.end_region(memory_, {true, outer}, note()));
  EXPECT_EQ(ended_, (std::vector<std::string>{"outer", "inner"}));
  EXPECT_EQ(at(0), nullptr);
}

TEST_F(OfAProgram, ARegionGrowsAndShrinks) {
  const std::uint64_t heap = pool_->address;
  suballocators_.add_heap(memory_, {heap, 4096}, true, "arena");
  const vgpu::Allocation* const one = region(heap, 0, 64, "one");
  Suballocators::Range added;
  EXPECT_TRUE(suballocators_.resize_region(memory_, {heap, 256}, added));
  EXPECT_EQ(added.address, heap + 64);
  EXPECT_EQ(added.bytes, 192u);
  EXPECT_EQ(at(255), one);
  EXPECT_TRUE(suballocators_.resize_region(memory_, {heap, 32}, added));
  EXPECT_EQ(added.bytes, 0u);
  EXPECT_EQ(at(31), one);
  EXPECT_EQ(at(32), nullptr);
  EXPECT_FALSE(suballocators_.resize_region(memory_, {heap + 1, 32}, added));
}

TEST_F(OfAProgram, AHeapEndsWithItsRegions) {
  const std::uint64_t heap = pool_->address;
  suballocators_.add_heap(memory_, {heap, 4096}, true, "arena");
  region(heap, 0, 64, "one");
  EXPECT_TRUE(suballocators_.reset_heap(memory_, heap, note()));
  EXPECT_EQ(ended_, (std::vector<std::string>{"one"}));
  region(heap, 0, 64, "two");
  EXPECT_TRUE(suballocators_.end_heap(memory_, heap, note()));
  EXPECT_EQ(ended_, (std::vector<std::string>{"one", "two", "arena"}));
  EXPECT_EQ(at(0), nullptr);
  EXPECT_FALSE(suballocators_.end_heap(memory_, heap, note()));
}

TEST_F(OfAProgram, RegionsOfLayoutsAndOfTheProcessAreNames) {
  const std::uint64_t heap = pool_->address;
  suballocators_.add_heap(memory_, {heap, 4096}, false, "layout");
  region(heap, 0, 64, "header");
  region(Suballocators::kProcessWide, 64, 64, "body");
  EXPECT_EQ(at(100), pool_);
  EXPECT_EQ(vgpu::describe(*pool_, 8, 4), "header[2]");
  EXPECT_EQ(vgpu::describe(*pool_, 68, 4), "body[1]");
  EXPECT_TRUE(suballocators_.handed_out().empty());
  suballocators_.end_region(memory_, {false, heap + 64}, note());
  EXPECT_EQ(vgpu::describe(*pool_, 68, 4), "allocation of 4096 bytes [17]");
}

TEST_F(OfAProgram, ThePoolOfSeveralMappingsIsOne) {
  vgpu::Allocation* const first =
      memory_.map(*memory_.allocate_unmapped(1024, 0), vgpu::kVirtualBase);
  vgpu::Allocation* const second =
      memory_.map(*memory_.allocate_unmapped(1024, 0), vgpu::kVirtualBase + 1024);
  const std::uint64_t heap = first->address;
  EXPECT_TRUE(suballocators_.add_heap(memory_, {heap, 2048}, true, "arena"));
  const auto added = suballocators_.add_region(memory_, heap, {heap + 1000, 100});
  EXPECT_EQ(memory_.object_at(heap + 1000), added.region);
  EXPECT_EQ(memory_.object_at(second->address), added.region);
  EXPECT_EQ(memory_.object_at(heap + 1100), nullptr);
  suballocators_.end_region(memory_, {true, added.number}, note());
  EXPECT_EQ(memory_.object_at(second->address), nullptr);
}

TEST_F(OfAProgram, FreedMemoryHasNoRegions) {
  suballocators_.add_heap(memory_, {pool_->address, 4096}, true, "arena");
  region(pool_->address, 0, 64, "one");
  suballocators_.forget(*pool_, note());
  EXPECT_EQ(ended_, (std::vector<std::string>{"one"}));
  EXPECT_TRUE(suballocators_.handed_out().empty());
}

}  // namespace
}  // namespace warpcheck::cudart
