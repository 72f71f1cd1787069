// A schedule decoded from a fuzzer's bytes.
//
// A decision has kDecisionBytes bytes and names its place as a recorded decision does, in numbers
// of its own warp, so that one decision does not shift the others and a fuzzer can change, add and
// drop them one by one:
//
//   byte 0    point and launch: the top three bits all ones: the start of the launch, the top two
//             alone: a stop, else an access; the launch is the number of ones at the low end of the
//             other bits, so early launches are likely
//   byte 1-2  block, modulo the grid
//   byte 3    warp, modulo the block's
//   byte 4-5  index: 12 bits, shifted right by 0 to 11 as the top four bits say, so that every
//             order of magnitude is likely
//   byte 6-7  choice: seed for the lanes that are held and what runs next, among those available
//
// At a start, block and warp are those that come first, and the index is odd if the others follow
// in descending order. With weak memory, a decision at an access also seeds whether it leaves out
// writes, and which. A decision without anything to decide (no such access, no other warp) is the
// default policy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fuzz/input_layout.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::fuzz {

class ByteSchedule final : public vgpu::Strategy {
 public:
  explicit ByteSchedule(const InputLayout& input);

  void begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) override;
  std::uint64_t next_access(std::uint32_t launch, vgpu::WarpId warp, std::uint64_t from) override;
  vgpu::StartOrder choose_start(const vgpu::StartPoint& point) override;
  [[nodiscard]] bool decides_stops() const override { return has_stops_; }
  std::optional<vgpu::Choice> decide(const vgpu::SchedulePoint& point) override;
  [[nodiscard]] bool chooses_past(std::uint32_t launch) const override;
  std::optional<vgpu::PastChoice> choose_past(const vgpu::PastPoint& point) override;

 private:
  struct Place {
    vgpu::WarpId at;
    vgpu::Decision::Point point = vgpu::Decision::Point::access;
    std::uint64_t index = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  // The decoded bytes, for a grid that is not known yet.
  struct Encoded {
    std::uint32_t launch = 0, block = 0, warp = 0;
    vgpu::Decision::Point point = vgpu::Decision::Point::access;
    std::uint64_t index = 0;
    std::uint64_t choice = 0;
  };
  struct Planned {
    Place place;
    std::uint64_t choice = 0;
  };

  static Encoded decode(std::span<const std::uint8_t> bytes);

  std::vector<Encoded> encoded_;
  std::vector<Planned> planned_;  // of the running launch, by place
  bool has_stops_ = false;
};

}  // namespace warpcheck::fuzz
