// Names of internal linkage of a file that was compiled from a copy.
#include "vgpu/cudart/code/file_marks.hpp"

#include <gtest/gtest.h>

namespace warpcheck::cudart {
namespace {

TEST(FileMarks, OfACopyBecomeThoseOfTheOriginal) {
  std::string ptx =
      ".entry _ZN46_GLOBAL__N__11111111_7_scan_cu_22222222_333334scanEv(\n"
      ".global _ZN46_GLOBAL__N__55555555_6_sum_cu_66666666_33333sEv\n";
  restore_file_marks({"_ZN46_GLOBAL__N__aaaaaaaa_7_scan_cu_bbbbbbbb_333334scanEv", "other"}, ptx);
  EXPECT_EQ(ptx,
            ".entry _ZN46_GLOBAL__N__aaaaaaaa_7_scan_cu_bbbbbbbb_333334scanEv(\n"
            ".global _ZN46_GLOBAL__N__55555555_6_sum_cu_66666666_33333sEv\n");
}

// A file that defines main() has its name in the place of the second hash; what follows there is
// the name of a function.
TEST(FileMarks, OfAProgramHaveOneHash) {
  std::string ptx =
      ".func _ZN48_INTERNAL_55555555_7_scan_cu_main33_GLOBAL__N__55555555_7_scan_cu_main3addEv\n"
      ".entry _ZN33_GLOBAL__N__55555555_7_scan_cu_main4scanEv(\n";
  restore_file_marks({"_ZN33_GLOBAL__N__aaaaaaaa_7_scan_cu_main4scanEv"}, ptx);
  EXPECT_EQ(
      ptx,
      ".func _ZN48_INTERNAL_55555555_7_scan_cu_main33_GLOBAL__N__aaaaaaaa_7_scan_cu_main3addEv\n"
      ".entry _ZN33_GLOBAL__N__aaaaaaaa_7_scan_cu_main4scanEv(\n");
}

// Of a kernel of an unnamed namespace in relocatable code.
TEST(FileMarks, OfStaticKernels) {
  std::string ptx =
      ".entry __nv_static_23__55555555_6_rdc_cu_main__ZN34_GLOBAL__N__55555555_6_rdc_cu_main4scanEv"
      "(\n";
  const std::string host =
      "__nv_static_23__aaaaaaaa_6_rdc_cu_main__ZN34_GLOBAL__N__aaaaaaaa_6_rdc_cu_main4scanEv";
  restore_file_marks({host}, ptx);
  EXPECT_EQ(ptx, ".entry " + host + "(\n");
}

TEST(FileMarks, ThatAreNoneStay) {
  std::string ptx =
      "_INTERNAL_ _GLOBAL__N__1234567 __nv_static_ __nv_static_23 _INTERNAL_11111111_99_a";
  const std::string before = ptx;
  restore_file_marks({"_INTERNAL_aaaaaaaa_1_a_bbbbbbbb"}, ptx);
  EXPECT_EQ(ptx, before);
}

}  // namespace
}  // namespace warpcheck::cudart
