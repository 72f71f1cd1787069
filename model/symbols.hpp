// The names of a litmus test's locations and registers while it is parsed.
#pragma once

#include <map>
#include <string>

#include "model/litmus_test.hpp"

namespace warpcheck::model {

struct NamedLocation {
  std::int64_t address = 0;
  unsigned elements = 1;
  Proxy proxy = Proxy::generic;
};

inline constexpr std::int64_t kElementBytes = 4;

class Symbols {
 public:
  explicit Symbols(Test& test) : test_(test) {}

  // A location of its own; for a known name, the existing one.
  const NamedLocation& declare(const std::string& name, unsigned elements = 1);
  // Another name for the memory of `of`, which is declared if it is new.
  const NamedLocation& alias(const std::string& name, const std::string& of, Proxy proxy);
  // Null: not declared.
  [[nodiscard]] const NamedLocation* find(const std::string& name) const;
  [[nodiscard]] Cell& cell_at(std::int64_t address) {
    return test_.cells[test_.addresses.at(address)];
  }

  // The register's index; declared with value 0 if it is new.
  static unsigned register_of(Thread& thread, const std::string& name);
  static bool has_register(const Thread& thread, const std::string& name);

 private:
  // An address that is not used otherwise.
  std::int64_t reserve() { return 0x1000 * ++reserved_; }

  Test& test_;
  std::map<std::string, NamedLocation> locations_;
  std::int64_t reserved_ = 0;
};

}  // namespace warpcheck::model
