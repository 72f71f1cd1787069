// Where tagged values were made, and the way that they took through memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/numerics/tags.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

// What a value is.  Divided: a quotient or a remainder of integers by 0.
enum class Made : std::uint8_t { nan, infinity, lost, wrapped, divided };

struct ValueOrigin {
  Made made = Made::nan;
  const Program* program = nullptr;
  std::uint32_t pc = 0;
  Ref a{}, b{};      // the first operands
  std::string what;  // "0 / 0", of the first one
  std::string kernel;
  AccessSide side;        // of the first one
  bool is_seen = false;   // by the host: reported
  bool is_asked = false;  // the program asks whether it is special
  bool is_left = false;   // in global memory, when that was freed or the trial ended
  std::string stored;     // where the first one was stored; empty: in no global memory
  AccessSide stored_by;
};

// A tag is the index of a node: an origin, or a store of a value that has a node.
class ValueOrigins {
 public:
  void reset();
  void begin_launch(std::uint32_t number) { launch_ = number; }

  // Returns the tag of values that an instruction makes, and the origin if it is new there.
  //   describe(): is called for a new one and returns its `what`
  template <typename Describe>
  Tag made(Made made, const Program& program, std::uint32_t pc, Describe describe,
           const Reporter& reporter, ThreadId who) {
    Tag& tag = made_[{&program, pc, made}];
    if (tag == 0) tag = add(made, program, pc, describe(), reporter, who);
    return tag;
  }
  // Returns the tag of a value after its store to global memory.
  Tag stored(Tag tag, const Access& access, unsigned lane, std::uint32_t offset,
             const Reporter& reporter);

  [[nodiscard]] ValueOrigin& origin_of(Tag tag) { return origins_[nodes_[tag].origin]; }
  [[nodiscard]] const std::vector<ValueOrigin>& all() const { return origins_; }
  // A value is in memory that ends.
  void leave(Tag tag) {
    if (nodes_[tag].parent != 0) origin_of(tag).is_left = true;
  }
  // Returns the side of the last store; null: there was none.
  [[nodiscard]] const AccessSide* last_store(Tag tag) const {
    return nodes_[tag].parent == 0 ? nullptr : &nodes_[tag].side;
  }
  [[nodiscard]] std::uint32_t element_bytes(Tag tag) const { return nodes_[tag].element_bytes; }
  // Returns "through 3 kernels (a, b, c)"; empty: only through the one that made it.
  [[nodiscard]] std::string way_of(Tag tag) const;

 private:
  struct Node {
    std::size_t origin = 0;
    Tag parent = 0;  // 0: where the value was made
    std::uint32_t launch = 0, element_bytes = 0;
    std::string kernel;
    AccessSide side;
  };
  Tag add(Made made, const Program& program, std::uint32_t pc, std::string what,
          const Reporter& reporter, ThreadId who);

  std::uint32_t launch_ = 0;
  std::vector<ValueOrigin> origins_;
  std::vector<Node> nodes_;
  std::map<std::tuple<const Program*, std::uint32_t, Made>, Tag> made_;
  // by the tag before, the launch and the instruction
  std::map<std::tuple<Tag, std::uint32_t, std::uint32_t>, Tag> stores_;
};

}  // namespace warpcheck::vgpu
