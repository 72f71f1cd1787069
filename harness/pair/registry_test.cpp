#include "harness/pair/registry.hpp"

#include <gtest/gtest.h>

#include "harness/pair/pair.hpp"
#include "harness/testing/fake_engine.hpp"

namespace warpcheck {
namespace {

using FakePair = Pair<FakeInput, int>;

std::unique_ptr<AnyPair> entry(std::string name, const FakePair& pair) {
  return std::make_unique<detail::TypedPair<FakeInput, int>>(std::move(name), &pair);
}

TEST(Registry, SortsPairsAndTheirProperties) {
  const FakePair pair{.expects = {"mismatch", "data-race"}};
  Registry registry;
  registry.add_property("b", {.name = "z", .body = {}});
  registry.add(entry("b", pair));
  registry.add(entry("a", pair));
  registry.add_property("b", {.name = "y", .body = {}});
  ASSERT_EQ(registry.pairs().size(), 2u);
  EXPECT_EQ(registry.pairs()[0]->name(), "a");
  EXPECT_EQ(registry.find("b")->properties()[0].name, "y");
  EXPECT_EQ(registry.find("b")->expects(),
            (std::vector{vgpu::FindingKind::data_race, vgpu::FindingKind::mismatch}));
  EXPECT_EQ(registry.find("c"), nullptr);
}

template <class Declare>
std::string error_of(Declare declare) {
  Registry registry;
  declare(registry);
  try {
    static_cast<void>(registry.pairs());
  } catch (const RegistryError& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(Registry, WrongDeclarationsAreNamed) {
  static const FakePair plain{}, odd{.expects = {"date-race"}};
  static const FakePair picky{.required_classes = {"values: sorted", "launch: one blok"}};
  EXPECT_EQ(error_of([](Registry& registry) {
              registry.add(entry("a", plain));
              registry.add(entry("a", plain));
            }),
            "two pairs are named 'a'");
  EXPECT_EQ(error_of([](Registry& registry) { registry.add(entry("a", odd)); }),
            "pair 'a' expects 'date-race', which is no finding kind");
  EXPECT_EQ(error_of([](Registry& registry) { registry.add(entry("a", picky)); }),
            "pair 'a' requires the class 'launch: one blok', which its inputs do not have");
  EXPECT_EQ(
      error_of([](Registry& registry) { registry.add_property("x", {.name = "p", .body = {}}); }),
      "property 'p' is of pair 'x', which is not there");
}

TEST(Registry, KnowsWhatANameWasMeantToBe) {
  Registry registry;
  static const FakePair plain{};
  registry.add(entry("scan_tree", plain));
  EXPECT_EQ(registry.is_it("scan_tre"), " (is it 'scan_tree'?)");
  EXPECT_EQ(registry.is_it("reduce"), "");
}

}  // namespace
}  // namespace warpcheck
