// Compares what a launch has left in memory here with what the same launch leaves on a real device,
// and finds out where a difference comes from: the order of threads, freedoms of the assembler, its
// optimisation, or the kernel itself.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/cudart/against/difference.hpp"
#include "vgpu/cudart/against/launch_image.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// The launch that has run here.
struct LaunchFacts {
  const vgpu::Program* program = nullptr;
  std::uint64_t number = 0;    // among all launches of the program, from 1
  bool has_findings = false;   // errors that the checkers have found in it
  std::string order_source{};  // where the order of threads can decide; empty: nowhere
};

class LaunchComparison {
 public:
  struct Here {
    // Runs the launch again here, with other PTX, from the memory of the image.  Returns what it
    // leaves; nothing: it cannot run, or something was found.
    std::function<std::optional<std::vector<MemoryImage>>(const std::string& ptx)> run;
    // Returns the last write of a byte in the launch; nothing: none was seen.
    std::function<std::optional<vgpu::AccessSide>(std::uint64_t address)> writer;
  };
  // Nothing is owned.
  LaunchComparison(LaunchTarget& target, Here here) : target_(target), here_(std::move(here)) {}

  struct Answer {
    std::optional<vgpu::Finding> finding{};
    std::string not_compared{};  // why not; empty: it was
    std::string reproducer{};    // PTX that the assembler translates wrongly; empty: none
  };
  // left: what the launch has left here, for each image of `before`
  Answer compare(const LaunchImage& before, const std::vector<MemoryImage>& left,
                 const LaunchFacts& facts);

 private:
  // Where a difference comes from.
  struct Origin {
    bool is_allowed = false;  // the PTX ISA allows both results
    bool is_assembler = false;
    std::string text;
  };
  [[nodiscard]] bool is_same_there(const LaunchImage& image, unsigned level,
                                   const std::vector<MemoryImage>& expected);
  [[nodiscard]] Origin origin_of(const LaunchImage& before, const std::vector<MemoryImage>& left,
                                 const LaunchResult& there, const Difference& difference,
                                 const LaunchFacts& facts);
  [[nodiscard]] std::string shrink(const LaunchImage& before);

  LaunchTarget& target_;
  Here here_;
  Element element_;
};

}  // namespace warpcheck::cudart
