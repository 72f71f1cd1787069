// For tests: a thread whose registers, memory and symbols are maps.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "cli/debug/variables/debug_info.hpp"
#include "cli/debug/variables/module_description.hpp"
#include "cli/debug/variables/ptx_testing.hpp"
#include "cli/debug/variables/thread_view.hpp"

namespace warpcheck::debug {

class FakeThread : public ThreadView {
 public:
  CodePosition at;
  std::map<std::string, RegisterBits, std::less<>> registers;
  std::map<ptx::SpecialRegister, std::uint64_t> specials;
  std::map<std::string, Address, std::less<>> symbols;
  // Written bytes; others from 0 to 0x1000 are unwritten, and there are none behind.
  std::map<std::pair<ptx::Space, std::uint64_t>, std::byte> written;

  // Generic addresses: this added to the offset in shared and local memory; others are global.
  static constexpr std::uint64_t kShared = 0x7000'0000, kLocal = 0x8000'0000, kEnd = 0x1000;
  static constexpr std::uint64_t kFunction = 0x10'0000'0000;  // of the one that has an address

  [[nodiscard]] CodePosition position() const override { return at; }

  [[nodiscard]] std::optional<RegisterBits> register_bits(std::string_view name) const override {
    const auto found = registers.find(name);
    return found == registers.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] std::optional<std::uint64_t> special(ptx::SpecialRegister name) const override {
    const auto found = specials.find(name);
    return found == specials.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] MemoryBytes memory(Address address, std::size_t bytes) const override {
    if (address.space == ptx::Space::generic) address = resolve(address.offset);
    MemoryBytes result;
    for (std::uint64_t i = address.offset; i < address.offset + bytes; ++i) {
      if (i >= kEnd)
        throw Unreadable(fmt::format("{} 0x{:x} is not allocated", name_of(address.space), i));
      const auto found = written.find({address.space, i});
      result.bytes.push_back(found == written.end() ? std::byte{} : found->second);
      result.unwritten.push_back(found == written.end() ? 0xff : 0);
    }
    return result;
  }

  [[nodiscard]] std::optional<Address> symbol(std::string_view name) const override {
    const auto found = symbols.find(name);
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] Address resolve(std::uint64_t generic) const override {
    if (generic >= kLocal) return {ptx::Space::local, generic - kLocal};
    if (generic >= kShared) return {ptx::Space::shared, generic - kShared};
    return {generic == 0 ? ptx::Space::generic : ptx::Space::global, generic};
  }

  [[nodiscard]] std::string function_at(std::uint64_t address) const override {
    return address == kFunction ? "twice" : "";
  }

  template <typename Number>
  void write(Address address, Number number) {
    std::array<std::byte, sizeof number> bytes{};
    std::memcpy(bytes.data(), &number, sizeof number);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      written[{address.space, address.offset + i}] = bytes[i];
  }

  // Writes where a variable is; its symbol gets an address that is free.
  template <typename Number>
  void set(const Variable& variable, Number number, std::uint64_t offset = 0) {
    const Location& location = variable.location;
    if (location.kind == Location::Kind::in_register) {
      RegisterBits& bits = registers[location.register_name];
      bits = {};
      std::memcpy(&bits.bits, &number, sizeof number);
      return;
    }
    Address address = place(location);
    address.offset += offset;
    write(address, number);
  }

  Address place(const Location& location) {
    const auto [at_symbol, is_new] = symbols.try_emplace(location.symbol);
    if (is_new) {
      constexpr std::uint64_t kBytesOfSymbol = 0x100;
      at_symbol->second = {location.space, next_[location.space]};
      next_[location.space] += kBytesOfSymbol;
    }
    return {location.space, at_symbol->second.offset + location.offset};
  }

 private:
  std::map<ptx::Space, std::uint64_t> next_;
};

// A FakeThread at a mark of the unoptimised code, and its variables.
struct AtMark {
  explicit AtMark(std::string_view mark, std::string_view text = unoptimized_ptx())
      : module(text, "t.ptx") {
    thread.at.ptx_line = line_of_mark(text, mark);
    const std::size_t entry = text.find(".entry ") + 7;
    thread.at.function = text.substr(entry, text.find('(', entry) - entry);
    using enum ptx::SpecialRegister;
    thread.specials = {{tid_x, 5}, {tid_y, 0}, {tid_z, 0}, {ctaid_x, 2}, {ntid_x, 64}};
    if (module.debug_info() == nullptr) return;
    scopes = module.debug_info()->scopes_at(thread.at.ptx_line);
    for (const Scope& scope : scopes) {
      for (const Variable& each : scope.variables) {
        if (each.location.kind == Location::Kind::in_memory) thread.place(each.location);
        if (each.location.kind == Location::Kind::in_register) {
          thread.registers[each.location.register_name].unwritten = ~std::uint64_t{0};
        }
      }
    }
    for (const Variable& each : module.debug_info()->globals()) thread.place(each.location);
  }

  [[nodiscard]] const Variable& operator[](std::string_view name) const {
    for (const Scope& scope : scopes) {
      for (const Variable& each : scope.variables) {
        if (each.name == name) return each;
      }
    }
    for (const Variable& each : module.debug_info()->globals()) {
      if (each.name == name) return each;
    }
    throw std::runtime_error("no variable " + std::string(name));
  }

  ModuleDescription module;
  FakeThread thread;
  std::vector<Scope> scopes;
};

}  // namespace warpcheck::debug
