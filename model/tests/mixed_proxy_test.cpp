// The verdicts of the tests of Lustig, Cooksey, Giroux, "Mixed-Proxy Extensions for the NVIDIA PTX
// Memory Consistency Model", ISCA 2022 (github.com/NVlabs/mixedproxy), as tables: a write, fences
// after it, fences before the read, the read, and whether the read may miss the write.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "model/enumerate.hpp"
#include "model/parser.hpp"

namespace warpcheck::model {
namespace {

// Fences by letter: a = alias, s = surface, t = texture, c = constant.
struct Row {
  const char* write;
  const char* behind;
  const char* before;
  const char* read;
  bool may_miss;
};

std::string fences(std::string_view letters) {
  std::string text;
  for (const char letter : letters) {
    text += std::string("fence.proxy.") +
            (letter == 'a'   ? "alias"
             : letter == 's' ? "surface"
             : letter == 't' ? "texture"
                             : "constant") +
            " ;\n";
  }
  return text;
}

std::string row_of(std::string_view code, bool second) {
  std::string text;
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = code.find('\n', begin);
    const std::string line(code.substr(begin, end - begin - 2));
    text += second ? " | " + line + " ;\n" : line + " | ;\n";
    begin = end + 1;
  }
  return text;
}

void expect_rows(const std::vector<Row>& rows, std::string_view names, std::string_view scope,
                 std::string_view block) {
  for (const Row& row : rows) {
    const std::string writer = std::string(row.write) + ", 2 ;\n" + fences(row.behind) +
                               "st.release." + std::string(scope) + " flag, 1 ;\n";
    const std::string reader = "ld.acquire." + std::string(scope) + " r0, flag ;\n" +
                               fences(row.before) + row.read + " ;\n";
    const std::string text = "PTX row\n{ " + std::string(names) + " }\nP0@cta 0,gpu 0 | P1@cta " +
                             std::string(block) + ",gpu 0 ;\n" + row_of(writer, false) +
                             row_of(reader, true) + "exists (1:r0=1 /\\ 1:r1!=2)\n";
    const auto test = parse_test(text);
    EXPECT_EQ(validated(test, enumerate(test)), row.may_miss) << text;
  }
}

constexpr const char* kOneAddress = "x=0; t @ texture aliases x; s @ surface aliases x;";
constexpr const char* kTwoAddresses =
    "x=0; y aliases x; c @ surface aliases x; s @ surface aliases y; t @ texture aliases y;";

constexpr const char* kStore = "st.weak x";
constexpr const char* kSurface = "sust.weak s";
constexpr const char* kSurfaceOfX = "sust.weak c";
constexpr const char* kLoad = "ld.weak r1, x";
constexpr const char* kLoadY = "ld.weak r1, y";
constexpr const char* kSurfaceLoad = "suld.weak r1, s";
constexpr const char* kTexture = "tld.weak r1, t";

TEST(MixedProxies, OneThread) {
  const Row rows[] = {
      {"st.weak x", "", "", "ld.weak r0, x", false},
      {"st.weak x", "", "", "suld.weak r0, s", true},
      {"st.weak x", "", "", "cold.weak r0, c", true},
      {"st.weak x", "s", "", "suld.weak r0, s", false},
      {"st.weak x", "c", "", "cold.weak r0, c", false},
      {"sust.weak s", "", "", "ld.weak r0, x", true},
      {"sust.weak s", "s", "", "ld.weak r0, x", false},
      {"sust.weak s", "", "", "suld.weak r0, s", false},
      {"sust.weak s", "s", "", "tld.weak r0, t", true},
      {"sust.weak s", "t", "", "tld.weak r0, t", true},
      {"sust.weak s", "ts", "", "tld.weak r0, t", true},
      {"sust.weak s", "st", "", "tld.weak r0, t", false},
      {"sust.weak s", "sc", "", "cold.weak r0, c", false},
  };
  for (const Row& row : rows) {
    const std::string text =
        "PTX row\n{ x=0; t @ texture aliases x; s @ surface aliases x; c @ constant aliases x; }\n"
        "P0@cta 0,gpu 0 ;\n" +
        std::string(row.write) + ", 1 ;\n" + fences(row.behind) + row.read +
        " ;\nexists (0:r0!=1)\n";
    const auto test = parse_test(text);
    EXPECT_EQ(validated(test, enumerate(test)), row.may_miss) << text;
  }
}

TEST(MixedProxies, OneAddressInOneBlock) {
  expect_rows({{kStore, "", "", kLoad, false},
               {kStore, "", "", kSurfaceLoad, true},
               {kSurface, "", "", kLoad, true},
               {kSurface, "", "", kSurfaceLoad, false},
               {kStore, "s", "", kSurfaceLoad, false},
               {kSurface, "s", "", kLoad, false},
               {kSurface, "s", "", kTexture, true},
               {kSurface, "t", "", kTexture, true},
               {kSurface, "ts", "", kTexture, true},
               {kSurface, "st", "", kTexture, false},
               {kSurface, "t", "s", kTexture, true},
               {kSurface, "s", "t", kTexture, false},
               {kStore, "", "s", kSurfaceLoad, false},
               {kSurface, "", "s", kLoad, false},
               {kSurface, "", "s", kTexture, true},
               {kSurface, "", "t", kTexture, true},
               {kSurface, "", "ts", kTexture, true},
               {kSurface, "", "st", kTexture, false}},
              kOneAddress, "cta", "0");
}

TEST(MixedProxies, OneAddressInTwoBlocks) {
  expect_rows({{kStore, "", "", kLoad, false},
               {kStore, "", "", kSurfaceLoad, true},
               {kSurface, "", "", kLoad, true},
               {kSurface, "", "", kSurfaceLoad, true},
               {kStore, "s", "", kSurfaceLoad, true},
               {kSurface, "s", "", kLoad, false},
               {kSurface, "s", "", kTexture, true},
               {kSurface, "t", "", kTexture, true},
               {kSurface, "ts", "", kTexture, true},
               {kSurface, "st", "", kTexture, true},
               {kSurface, "t", "s", kTexture, true},
               {kSurface, "s", "t", kTexture, false},
               {kStore, "", "s", kSurfaceLoad, false},
               {kSurface, "", "s", kLoad, true},
               {kSurface, "", "s", kTexture, true},
               {kSurface, "", "t", kTexture, true},
               {kSurface, "", "ts", kTexture, true},
               {kSurface, "", "st", kTexture, true}},
              kOneAddress, "gpu", "1");
}

// Verdicts that are the same in one block and in two.
std::vector<Row> rows_of_two_addresses() {
  return {{kStore, "", "", kLoadY, true},
          {kStore, "", "", kSurfaceLoad, true},
          {kSurfaceOfX, "", "", kLoadY, true},
          {kSurfaceOfX, "", "", kSurfaceLoad, true},
          {kStore, "s", "", kSurfaceLoad, true},
          {kSurfaceOfX, "s", "", kLoadY, true},
          {kSurfaceOfX, "s", "", kTexture, true},
          {kSurfaceOfX, "t", "", kTexture, true},
          {kSurfaceOfX, "ts", "", kTexture, true},
          {kSurfaceOfX, "st", "", kTexture, true},
          {kSurfaceOfX, "t", "s", kTexture, true},
          {kSurfaceOfX, "s", "t", kTexture, true},
          {kStore, "", "s", kSurfaceLoad, true},
          {kSurfaceOfX, "", "s", kLoadY, true},
          {kSurfaceOfX, "", "s", kTexture, true},
          {kSurfaceOfX, "", "t", kTexture, true},
          {kSurfaceOfX, "", "ts", kTexture, true},
          {kSurfaceOfX, "", "st", kTexture, true},
          {kStore, "a", "", kLoadY, false},
          {kStore, "", "a", kLoadY, false},
          {kSurfaceOfX, "as", "", kLoadY, true},
          {kSurfaceOfX, "sa", "", kLoadY, false},
          {kSurfaceOfX, "s", "a", kLoadY, false},
          {kSurfaceOfX, "as", "t", kTexture, true},
          {kSurfaceOfX, "sa", "t", kTexture, false},
          {kSurfaceOfX, "s", "at", kTexture, false},
          {kSurfaceOfX, "s", "ta", kTexture, true},
          {kStore, "a", "s", kSurfaceLoad, false},
          {kStore, "", "as", kSurfaceLoad, false},
          {kStore, "", "sa", kSurfaceLoad, true}};
}

TEST(MixedProxies, TwoAddressesInTwoBlocks) {
  expect_rows(rows_of_two_addresses(), kTwoAddresses, "gpu", "1");
}

TEST(MixedProxies, TwoAddressesInOneBlock) {
  expect_rows(rows_of_two_addresses(), kTwoAddresses, "cta", "0");
  expect_rows({{kSurfaceOfX, "a", "", kSurfaceLoad, true},
               {kSurfaceOfX, "", "a", kSurfaceLoad, true},
               {kStore, "as", "", kSurfaceLoad, false},
               {kStore, "sa", "", kSurfaceLoad, true},
               {kStore, "s", "a", kSurfaceLoad, true},
               {kSurfaceOfX, "ast", "", kTexture, true},
               {kSurfaceOfX, "sat", "", kTexture, false},
               {kSurfaceOfX, "sta", "", kTexture, true},
               {kSurfaceOfX, "st", "a", kTexture, true},
               {kSurfaceOfX, "a", "s", kLoadY, true},
               {kSurfaceOfX, "", "as", kLoadY, true},
               {kSurfaceOfX, "", "sa", kLoadY, false},
               {kSurfaceOfX, "a", "st", kTexture, true},
               {kSurfaceOfX, "", "ast", kTexture, true},
               {kSurfaceOfX, "", "sat", kTexture, false},
               {kSurfaceOfX, "", "sta", kTexture, true}},
              kTwoAddresses, "cta", "0");
}

}  // namespace
}  // namespace warpcheck::model
