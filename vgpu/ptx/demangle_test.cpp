#include "vgpu/ptx/demangle.hpp"

#include <gtest/gtest.h>

namespace warpcheck::ptx {
namespace {

TEST(Demangle, NamesAreAsTheirSourceWritesThem) {
  EXPECT_EQ(demangle("_Z3addiPf"), "add(int, float*)");
  EXPECT_EQ(demangle("add"), std::nullopt);
}

TEST(Demangle, AbiTagsAreLeftOut) {
  EXPECT_EQ(demangle("_ZN6cudapy8__main__4sumsB2v4B5cw51cEi"), "cudapy::__main__::sums(int)");
  EXPECT_EQ(demangle("_Z1fB5cxx11v"), "f()");
  EXPECT_EQ(demangle("_ZN36_INTERNAL_a18cf274_6_tma_cu_08c01bf51a4copyEPi"), "a::copy(int*)");
}

}  // namespace
}  // namespace warpcheck::ptx
