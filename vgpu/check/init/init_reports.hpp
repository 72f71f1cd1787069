// Reports uses of undefined values, and copies of them by the host.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "vgpu/check/init/reported_origins.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

class InitReports {
 public:
  // Of a value that is used.
  struct Origins {
    std::optional<Origin> own;      // none: not known
    std::optional<Origin> earlier;  // whose value it has found in memory; none: it is its own
  };
  using FindOrigins = std::function<Origins()>;  // called if there is a finding

  explicit InitReports(Reporter& reporter) : reporter_(reporter) {}

  void used(const UndefinedUse& use, const FindOrigins& find);
  // Strict: a store or an atomic operation takes a value to memory (use.kind does not count), and a
  // library function reads an operand.
  void stored(const UndefinedUse& use, bool is_atomic, const FindOrigins& find);
  //   number: identifies the operand
  void read_by_library(const OperandAccess& access, std::uint32_t number);
  // The host copies, from byte `offset` on:
  // a value made from undefined bytes;
  void copied_value(const HostAccess& access, std::uint32_t offset, const Origin& origin);
  // `bytes` bytes that nothing has written, and that are no padding;
  void copied_element(const HostAccess& access, std::uint32_t offset, std::uint32_t bytes);
  // bytes that were undefined when they were written beside defined ones;
  void copied_padding(const HostAccess& access, std::uint32_t offset, const Origin& origin);
  // bytes that nothing has written, and that may be padding.
  void copied_bytes(const HostAccess& access, std::uint32_t offset);

 private:
  struct UseWords {
    const char* role;
    const char* sentence;
    std::uint32_t tag;  // of the finding's key
  };
  static UseWords words_of(UndefinedUse::Kind kind);
  void report_use(const UndefinedUse& use, const UseWords& words, const FindOrigins& find);
  [[nodiscard]] AccessSide side_of(const Origin& origin) const;
  // Sets the earlier error of the host that left the bytes unwritten, if one is known.
  void add_cause(const Allocation* allocation, std::uint32_t offset, Finding& finding) const;
  void add_copy(const HostAccess& access, Finding& finding) const;
  [[nodiscard]] Finding copied_from(const HostAccess& access, std::uint32_t offset,
                                    const Origin& origin) const;

  Reporter& reporter_;
};

}  // namespace warpcheck::vgpu
