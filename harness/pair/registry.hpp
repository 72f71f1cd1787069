// All pairs of the program, in order of name, whatever the order of linking.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/pair/any_pair.hpp"

namespace warpcheck {

// A wrong declaration: two pairs of one name, an unknown finding kind, a property of a pair that
// does not exist.
class RegistryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Registry {
 public:
  // The registry that KERNEL_PAIR and PROPERTY fill before main() runs.
  static Registry& global();

  void add(std::unique_ptr<AnyPair> pair);
  void add_property(std::string pair, PropertyEntry property);

  // Throws RegistryError if a declaration is wrong.
  [[nodiscard]] const std::vector<const AnyPair*>& pairs();
  // Null if there is none of this name.
  [[nodiscard]] const AnyPair* find(std::string_view name);
  // Returns the text that asks whether the most similar registered name was meant; empty if none is
  // similar.
  [[nodiscard]] std::string is_it(std::string_view name);

 private:
  struct PendingProperty {
    std::string pair;
    PropertyEntry property;
  };
  void resolve();

  std::vector<std::unique_ptr<AnyPair>> owned_;
  std::vector<PendingProperty> pending_;
  std::vector<const AnyPair*> sorted_;
  bool resolved_ = true;
};

}  // namespace warpcheck
