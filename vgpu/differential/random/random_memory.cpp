// Loads, stores and atomics of random programs.
//
// Each thread has private bytes in local, shared and global memory, for accesses of any width at
// any time.  Threads share other memory between two barriers, in separate statements.
#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "vgpu/differential/random/generator.hpp"

namespace warpcheck::vgpu {

struct Generator::AccessType {
  std::string_view type;
  unsigned bytes;                     // of an element in memory
  std::array<unsigned, 3> registers;  // possible register sizes; 0: none
};

// Memory that belongs to a thread: `base` is its address, `size` a power of two.
struct Generator::PrivatePlace {
  std::string_view space, base;
  unsigned size;
};

namespace {

// Bytes of a vector are at most 16.
unsigned draw_elements(Prng& prng, unsigned element_bytes) {
  constexpr std::array<unsigned, 6> kElements = {1, 1, 1, 2, 2, 4};
  const unsigned elements = kElements[prng.below(kElements.size())];
  return elements * element_bytes > 16 ? 2 : elements;
}

std::string vector_suffix(unsigned elements) {
  return elements == 1 ? std::string() : fmt::format(".v{}", elements);
}

}  // namespace

// A load or a store of that many elements at [at]: `space` with its dot, or empty.
//
// Registers have only a width and no type.  If an assembler guesses the type float from the
// computation, it converts instead of truncating when a narrower integer is stored.  So stored
// values are computed from integers.
std::string Generator::moved(const AccessType& type, unsigned elements, bool loads,
                             std::string_view space) {
  unsigned bytes = 0;
  while (bytes == 0) bytes = type.registers[prng_.below(type.registers.size())];
  std::set<std::string> distinct;
  std::string before, list;
  while (distinct.size() < elements) {
    std::string name = state(bytes);
    if (!distinct.insert(name).second) continue;
    if (!loads && bytes > type.bytes) {
      const std::string whole = std::exchange(name, fmt::format("s{}", distinct.size()));
      before += fmt::format(".reg .b{0} {1};\nxor.b{0} {1}, {2}, %none{3};\n", bytes * 8, name,
                            whole, bytes);
    }
    list += (list.empty() ? "" : ", ") + name;
  }
  if (elements > 1) list = "{" + list + "}";
  const bool is_volatile = space != ".const" && space != ".local" && prng_.one_in(8);
  const std::string name =
      fmt::format("{}{}{}{}.{}", loads ? "ld" : "st", is_volatile ? ".volatile" : "", space,
                  vector_suffix(elements), type.type);
  const std::string condition = guard(6);
  return loads ? fmt::format("{}{} {}, [at];\n", condition, name, list)
               : fmt::format("{}{}{} [at], {};\n", before, condition, name, list);
}

// Sets `at` to an aligned address of 16 bytes, or of `bytes`.
std::string Generator::private_address(const PrivatePlace& place, unsigned bytes) {
  return fmt::format("and.b32 t, {}, {};\ncvt.u64.u32 at, t;\nadd.u64 at, at, {};\n", word(),
                     place.size - bytes, place.base);
}

std::string Generator::private_access(const Place& place) {
  static constexpr AccessType kTypes[] = {
      {"u8", 1, {2, 4, 8}},  {"s8", 1, {2, 4, 8}},  {"b8", 1, {2, 4, 8}},  {"u16", 2, {2, 4, 8}},
      {"s16", 2, {2, 4, 8}}, {"b16", 2, {2, 4, 8}}, {"u32", 4, {4, 8, 0}}, {"s32", 4, {4, 8, 0}},
      {"b32", 4, {4, 8, 0}}, {"f32", 4, {4, 0, 0}}, {"u64", 8, {8, 0, 0}}, {"b64", 8, {8, 0, 0}},
      {"s64", 8, {8, 0, 0}}, {"f64", 8, {8, 0, 0}}};
  static constexpr PrivatePlace kPlaces[] = {{".local", "%local", kLocalBytes},
                                             {".global", "%mine", kPrivateBytes},
                                             {".shared", "%slot", kPrivateBytes}};
  const PrivatePlace& owned = kPlaces[place.in_kernel ? prng_.below(std::size(kPlaces)) : 0];
  std::string_view space = owned.space;
  std::string text = "{\n.reg .b32 t;\n.reg .b64 at;\n" + private_address(owned, 16);
  if (prng_.one_in(3)) {
    if (space != ".global") text += fmt::format("cvta{}.u64 at, at;\n", space);
    space = "";
  }
  const AccessType& type = kTypes[prng_.below(std::size(kTypes))];
  const unsigned elements = draw_elements(prng_, type.bytes);
  const unsigned bytes = type.bytes * elements;
  text += fmt::format("add.u64 at, at, {};\n", prng_.below(16 / bytes) * bytes);
  return text + moved(type, elements, prng_.one_in(2), space) + "}\n";
}

// An atomic on private bytes of the thread, so the old value is known.
std::string Generator::private_atomic(const Place& place) {
  if (!place.in_kernel) return private_access(place);
  static constexpr std::string_view kOperations[] = {
      "add.u32", "add.s32", "add.u64", "add.f32", "add.f64", "min.u32",  "min.s32",
      "min.u64", "min.s64", "max.u32", "max.s32", "max.u64", "max.s64",  "and.b32",
      "and.b64", "or.b32",  "or.b64",  "xor.b32", "xor.b64", "exch.b32", "exch.b64",
      "inc.u32", "dec.u32", "cas.b32", "cas.b64"};
  static constexpr PrivatePlace kPlaces[] = {{".global", "%mine", kPrivateBytes},
                                             {".shared", "%slot", kPrivateBytes}};
  static constexpr std::string_view kOrders[] = {"", ".relaxed.gpu", ".relaxed.cta",
                                                 ".acq_rel.gpu"};
  const PrivatePlace& owned = kPlaces[prng_.below(std::size(kPlaces))];
  std::string_view operation = one_of(kOperations);
  while (options_.known && operation.find(".f") != std::string_view::npos) {
    operation = one_of(kOperations);
  }
  const unsigned bytes = operation.ends_with("64") ? 8 : 4;
  const bool is_cas = operation.starts_with("cas");
  std::string text = "{\n.reg .b32 t;\n.reg .b64 at;\n" + private_address(owned, bytes);
  std::string_view space = owned.space;
  if (prng_.one_in(4)) {
    if (space != ".global") text += fmt::format("cvta{}.u64 at, at;\n", space);
    space = "";
  }
  const std::string_view order = one_of(kOrders);
  const std::string name = fmt::format("{}{}.{}", order, space, operation);
  text += guard(6);
  if (is_cas)
    return text + fmt::format("atom{} {}, [at], {}, {};\n}}\n", name, state(bytes), state(bytes),
                              state(bytes));
  const bool is_silent =
      prng_.one_in(3) && order != ".acq_rel.gpu" && !operation.starts_with("exch");
  if (is_silent) return text + fmt::format("red{} [at], {};\n}}\n", name, state(bytes));
  return text + fmt::format("atom{} {}, [at], {};\n}}\n", name, state(bytes), state(bytes));
}

std::string Generator::constant_load() {
  static constexpr AccessType kTypes[] = {
      {"u8", 1, {2, 4, 8}},  {"s8", 1, {2, 4, 8}},  {"s16", 2, {2, 4, 8}}, {"u16", 2, {2, 4, 8}},
      {"u32", 4, {4, 8, 0}}, {"s32", 4, {4, 8, 0}}, {"b64", 8, {8, 0, 0}}};
  const AccessType& type = kTypes[prng_.below(std::size(kTypes))];
  return "{\n.reg .b32 t;\n.reg .b64 at, base;\nmov.u64 base, fixed;\n" +
         private_address({".const", "base", 64}, 16) +
         moved(type, draw_elements(prng_, type.bytes), true, ".const") + "}\n";
}

// Every thread writes 16 bytes, and reads those of another thread, or a part of them.
std::string Generator::exchange() {
  static constexpr AccessType kTypes[] = {
      {"u8", 1, {2, 4, 8}},  {"s8", 1, {2, 4, 8}},  {"s16", 2, {2, 4, 8}}, {"b16", 2, {2, 4, 8}},
      {"u32", 4, {4, 8, 0}}, {"s32", 4, {4, 8, 0}}, {"b64", 8, {8, 0, 0}}};
  const bool is_global = prng_.one_in(3);
  std::string text = "{\n.reg .b32 t;\n.reg .b64 at, base;\n";
  if (is_global) {  // in which each thread otherwise has private bytes
    text +=
        fmt::format("mul.wide.u32 base, %self, {};\nsub.u64 base, %mine, base;\n", kPrivateBytes);
  } else {
    text += "mov.u64 base, slots;\n";
  }
  const std::string_view space = is_global ? ".global" : ".shared";
  const std::string_view barrier = prng_.one_in(3) ? "barrier.sync 1" : "bar.sync 0";
  text += fmt::format(
      "{0};\nst{1}.v2.b64 [{2}], {{{3}, {4}}};\nst{1}.v4.b32 [{2}+16], {{{5}, {6}, {5}, {6}}};\n"
      "{0};\nadd.u32 t, %self, {7};\nrem.u32 t, t, {8};\nmad.wide.u32 at, t, {9}, base;\n",
      barrier, space, is_global ? "%mine" : "%slot", wide(), wide(), word(), word(),
      prng_.below(threads_), threads_, kPrivateBytes);
  text += fmt::format("add.u64 at, at, {};\n", prng_.below(2) * 16);
  for (std::uint64_t i = prng_.below(3) + 1; i > 0; --i) {
    const AccessType& type = kTypes[prng_.below(std::size(kTypes))];
    text += moved(type, draw_elements(prng_, type.bytes), true, space);
  }
  return text + fmt::format("{};\n}}\n", barrier);
}

// Atomics of all threads on a few places; finally only their sum, minimum ... is read.
std::string Generator::shared_atomics() {
  static constexpr std::string_view kOperations[] = {
      "add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "min.u64",
      "min.s64", "max.u32", "max.s32", "max.u64", "max.s64", "and.b32",
      "and.b64", "or.b32",  "or.b64",  "xor.b32", "xor.b64", "inc.u32"};
  const bool is_global = prng_.one_in(2);
  const std::string_view operation = one_of(kOperations), space = is_global ? ".global" : ".shared";
  const unsigned bytes = operation.ends_with("64") ? 8 : 4;
  std::string text = "{\n.reg .b32 t;\n.reg .b64 at, base;\n.reg .pred first;\n";
  if (is_global) {
    text += "mov.u64 base, %cells;\n";
  } else {
    text += fmt::format(".shared .align 8 .b8 cells[{}];\nmov.u64 base, cells;\n", kCellBytes);
  }
  // The number of times that a counter wraps must not depend on the order of threads: there is one
  // bound for all.
  const std::string bound = operation == "inc.u32" ? fmt::format("{}", prng_.below(20)) : "";
  text += fmt::format(
      "bar.sync 0;\nsetp.lt.u32 first, %self, 8;\nmad.wide.u32 at, %self, 8, base;\n"
      "@first st{0}.u64 [at], {1};\nbar.sync 0;\n",
      space, bound.empty() ? wide() : "0");
  text += fmt::format("and.b32 t, {}, 7;\nmad.wide.u32 at, t, 8, base;\n", word());
  text += fmt::format("{}red{}.{} [at], {};\n", guard(3), space, operation,
                      bound.empty() ? state(bytes) : bound);
  text += fmt::format(
      "bar.sync 0;\nadd.u32 t, %self, {};\nand.b32 t, t, 7;\nmad.wide.u32 at, t, 8, base;\n"
      "ld{}.u64 {}, [at];\nbar.sync 0;\n}}\n",
      prng_.below(8), space, wide());
  return text;
}

}  // namespace warpcheck::vgpu
