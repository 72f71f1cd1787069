#include "cli/kernel/assumptions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <regex>
#include <set>

#include "cli/cli.hpp"
#include "cli/kernel/lengths.hpp"
#include "cli/kernel/probe.hpp"
#include "harness/input/tape.hpp"

namespace warpcheck {
namespace {

constexpr int kSamples = 60, kQuickRuns = 6, kDrawsMax = 400;
// Values of arrays that decide addresses, and the least length of arrays that they may index.
constexpr ValueRange kIndices{0, 63};

constexpr std::int64_t kLargest = 1000;  // of integers that nobody bounds

// Conditions, ranges and extents leave nothing that can be drawn.
class NoInput : public UsageError {
 public:
  using UsageError::UsageError;
};

bool is_plain_integer(const ScalarParameter& scalar) {
  return is_integer(scalar.element) && scalar.element != ElementType::boolean;
}

// The extents of threads and blocks that the code asks for.
struct Dimensions {
  int grid = 0, block = 0;
};

void add_registers(const ptx::Operand& operand, Dimensions& used) {
  using Register = ptx::SpecialRegister;
  const auto is_at_least = [&](int& dims, Register x, Register y, Register z) {
    if (operand.special == x) dims = std::max(dims, 1);
    if (operand.special == y) dims = std::max(dims, 2);
    if (operand.special == z) dims = std::max(dims, 3);
  };
  if (operand.kind == ptx::Operand::Kind::special) {
    is_at_least(used.block, Register::tid_x, Register::tid_y, Register::tid_z);
    is_at_least(used.grid, Register::ctaid_x, Register::ctaid_y, Register::ctaid_z);
    if (operand.special == Register::laneid || operand.special == Register::warpid) {
      used.block = std::max(used.block, 1);
    }
  }
  for (const ptx::Operand& part : operand.parts) add_registers(part, used);
}

Dimensions dimensions_of(const ptx::Module& module, const std::string& kernel) {
  Dimensions used;
  for (const ptx::Function& function : module.functions) {
    if (function.is_entry && function.name != kernel) continue;
    for (const ptx::Instruction& instruction : function.body) {
      for (const ptx::Operand& operand : instruction.operands) add_registers(operand, used);
    }
  }
  return used;
}

// Bytes of the shared variables of a kernel and of the module.
std::uint64_t shared_bytes_of(const ptx::Module& module, const std::string& kernel) {
  std::uint64_t bytes = 0;
  const auto add = [&](const std::vector<ptx::Variable>& variables) {
    for (const ptx::Variable& variable : variables) {
      if (variable.space == ptx::Space::shared) bytes += variable.bytes + variable.alignment;
    }
  };
  add(module.variables);
  add(module.find_function(kernel)->locals);
  return bytes;
}

// The blocks that are tried in this order, by the number of dimensions.
std::vector<Dim3> usual_blocks(int dims) {
  if (dims <= 1) return {Dim3(256), Dim3(128), Dim3(64), Dim3(32), Dim3(512), Dim3(1024)};
  if (dims == 2) return {Dim3(16, 16), Dim3(32, 32), Dim3(8, 8), Dim3(32, 8), Dim3(64, 4)};
  return {Dim3(8, 8, 4), Dim3(4, 4, 4), Dim3(8, 8, 8), Dim3(16, 4, 4)};
}

std::string shown(const Dim3& extents) {
  if (extents.z > 1) return fmt::format("{},{},{}", extents.x, extents.y, extents.z);
  if (extents.y > 1) return fmt::format("{},{}", extents.x, extents.y);
  return std::to_string(extents.x);
}

std::string shown(const std::array<std::optional<Expression>, 3>& extents) {
  std::string text = extents[0]->text();
  const auto is_one = [](const std::optional<Expression>& extent) {
    return !extent || extent->text() == "1";
  };
  if (!is_one(extents[1]) || !is_one(extents[2])) {
    text += "," + (extents[1] ? extents[1]->text() : "1");
  }
  if (!is_one(extents[2])) text += "," + extents[2]->text();
  return text;
}

class Assuming {
 public:
  Assuming(KernelDescription kernel, const ptx::Module& module, const Given& given)
      : given_(given),
        module_(module),
        pair_(kernel),
        prober_(pair_, shared_bytes_of(module, kernel.mangled)) {
    made_.kernel = std::move(kernel);
  }

  Assumptions all() {
    take_what_is_given();
    choose_dimensions();
    // Contracts and options count from here on, so that probes keep to them.
    choose_block();
    choose_ranges();
    find_index_arrays();
    fit_lengths();
    tell();
    made_.runs = prober_.runs();
    return std::move(made_);
  }

 private:
  KernelDescription& kernel() { return made_.kernel; }

  void take_what_is_given() {
    std::set<std::string> known;
    for (ScalarParameter& scalar : kernel().scalars) {
      known.insert(scalar.name);
      const auto range = given_.ranges.find(scalar.name);
      if (range == given_.ranges.end()) continue;
      if (!is_integer(scalar.element)) {
        throw UsageError(fmt::format("--let {}: it is no integer", scalar.name));
      }
      const ValueRange all = range_of(scalar.element);
      if (range->second.low < all.low || range->second.high > all.high) {
        throw UsageError(
            fmt::format("--let {}: its type holds {}..{}", scalar.name, all.low, all.high));
      }
      scalar.range = range->second;
    }
    for (ArrayParameter& array : kernel().arrays) {
      known.insert(array.name);
      if (const auto range = given_.ranges.find(array.name); range != given_.ranges.end()) {
        array.values = range->second;
      }
      if (array.length.text() != "0") with_length_.insert(array.name);
    }
    for (const auto& [name, range] : given_.ranges) check_known(known, "--let", name);
    take_bounds();
    if (given_.shared_bytes) kernel().launch.shared_bytes = *given_.shared_bytes;
  }

  // Conditions like `n > 0` and `n == 64` bound what is drawn, so that most of it is used.
  void take_bounds() {
    static const std::regex kBound(R"(^\s*([\w.]+)\s*(==|>=|<=|>|<)\s*(\d{1,15})\s*$)");
    for (const Expression& condition : kernel().conditions) {
      std::smatch match;
      if (!std::regex_match(condition.text(), match, kBound)) continue;
      const auto scalar = std::ranges::find(kernel().scalars, match[1], &ScalarParameter::name);
      if (scalar == kernel().scalars.end() || given_.ranges.contains(scalar->name)) continue;
      const std::string relation = match[2];
      const std::int64_t number = std::stoll(match[3]);
      std::int64_t& low = lows_[scalar->name];
      if (relation == "==" || relation == ">=") low = std::max(low, number);
      if (relation == ">") low = std::max(low, number + 1);
      if (relation == "==" || relation == "<=")
        scalar->range.high = std::min(scalar->range.high, number);
      if (relation == "<") scalar->range.high = std::min(scalar->range.high, number - 1);
    }
  }

  static void check_known(const std::set<std::string>& known, const char* option,
                          const std::string& name) {
    if (known.contains(name)) return;
    throw UsageError(
        fmt::format("{} {}: the kernel has no such parameter; it has {}", option, name,
                    known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }

  void choose_dimensions() {
    const Dimensions used = dimensions_of(module_, kernel().mangled);
    kernel().launch.grid_dims = used.grid;
    kernel().launch.block_dims = used.block;
    if (used.grid == 0 && !kernel().launch.grid[0]) {
      made_.notes.push_back("the code does not ask for its block, so there is one");
    }
  }

  // Until they are chosen, integers have values with which runs are short.
  [[nodiscard]] KernelDescription with_ranges_up_to(std::int64_t high) {
    KernelDescription tried = kernel();
    for (ScalarParameter& scalar : tried.scalars) {
      if (!is_plain_integer(scalar) || given_.ranges.contains(scalar.name)) continue;
      const std::int64_t low = lows_[scalar.name];
      scalar.range = {low, std::min(scalar.range.high, std::max(high, low))};
    }
    return tried;
  }

  // What runs with drawn shapes touched.
  std::vector<std::pair<KernelInput, Extents>> probe(const KernelDescription& tried, int runs,
                                                     const std::vector<Fill>& fill) {
    std::vector<std::pair<KernelInput, Extents>> seen;
    for (int i = 0; i < runs; ++i) {
      Tape tape = Tape::of_seed(static_cast<std::uint64_t>(i) + 1);
      Draw draw(tape);
      KernelInput input;
      int draws = 0;
      while (!draw_shape(tried, draw, input, draws > kDrawsMax / 2)) {
        if (++draws < kDrawsMax) continue;
        throw NoInput(
            "no input satisfies the conditions and ranges; give ranges by --let, and extents by "
            "--block and --grid");
      }
      Extents extents = prober_.run(tried, input, fill, static_cast<std::uint64_t>(i));
      seen.emplace_back(std::move(input), std::move(extents));
    }
    return seen;
  }

  [[nodiscard]] std::vector<Fill> all(Fill fill) { return {kernel().arrays.size(), fill}; }

  void choose_block() {
    LaunchRule& launch = kernel().launch;
    const ptx::Function& function = *module_.find_function(kernel().mangled);
    if (launch.block[0]) return;
    const auto said = launch.block;
    const auto fix = [&](const Dim3& block) {
      launch.block = {Expression::number(block.x), said[1].value_or(Expression::number(block.y)),
                      said[2].value_or(Expression::number(block.z))};
    };
    if (function.required_threads[0] != 0) {
      return fix(Dim3(function.required_threads[0], std::max(1U, function.required_threads[1]),
                      std::max(1U, function.required_threads[2])));
    }
    if (launch.block_dims == 0) {
      made_.notes.push_back("the code does not ask for its thread, so a block has one");
      return fix(Dim3(1));
    }
    const std::vector<Dim3> blocks = usual_blocks(launch.block_dims);
    std::optional<Dim3> first;
    for (const Dim3& block : blocks) {
      if (function.max_threads != 0 && block.count() > function.max_threads) continue;
      if (!first) first = block;
      fix(block);
      if (!leaves_shared()) {
        if (!(block == *first)) {
          made_.notes.push_back(fmt::format(
              "blocks of {} threads: with {} the kernel leaves its shared memory (--block gives "
              "others)",
              shown(block), shown(*first)));
        }
        return;
      }
    }
    fix(first.value_or(Dim3(32)));
  }

  // The more integers, the longer are arrays of their products.
  [[nodiscard]] std::int64_t usual_high() const {
    const auto integers = std::ranges::count_if(made_.kernel.scalars, [&](const auto& scalar) {
      return is_plain_integer(scalar) && !given_.ranges.contains(scalar.name);
    });
    return integers <= 1 ? kLargest : integers == 2 ? 100 : 40;
  }

  bool leaves_shared() {
    const auto leaves = [&](std::int64_t high) {
      const auto seen = probe(with_ranges_up_to(high), kQuickRuns, all(Fill::zeros));
      return std::ranges::any_of(seen, [](const auto& run) { return run.second.leaves_shared; });
    };
    try {
      return leaves(usual_high());
    } catch (const NoInput&) {
      return leaves(kLargest);
    }
  }

  // The largest of usual ranges with which accesses stay in arrays of any sensible length, and runs
  // end.
  void choose_ranges() {
    if (std::ranges::none_of(kernel().scalars, is_plain_integer)) return;
    find_lows();
    const std::int64_t usual = usual_high();
    std::optional<KernelDescription> largest;
    for (const std::int64_t high : {usual, std::int64_t{100}, std::int64_t{30}, std::int64_t{8}}) {
      if (high > usual) continue;
      const KernelDescription tried = with_ranges_up_to(high);
      try {
        const auto seen = probe(tried, 2 * kQuickRuns, all(Fill::zeros));
        if (!largest) largest = tried;
        if (std::ranges::all_of(seen, [](const auto& run) {
              return run.second.ends && !run.second.leaves_arrays;
            })) {
          kernel() = tried;
          return;
        }
      } catch (const NoInput&) {
        // Conditions exclude such small numbers.
      }
    }
    kernel() = largest ? *largest : with_ranges_up_to(kLargest);
  }

  // Integers with which a kernel does not end if they are 0: steps of loops.
  void find_lows() {
    for (const ScalarParameter& scalar : kernel().scalars) {
      if (!is_plain_integer(scalar) || given_.ranges.contains(scalar.name)) continue;
      if (lows_[scalar.name] > 0) continue;
      KernelDescription tried = with_ranges_up_to(30);
      for (ScalarParameter& other : tried.scalars) {
        if (other.name == scalar.name) other.range = {0, 0};
      }
      try {
        const auto seen = probe(tried, kQuickRuns, all(Fill::zeros));
        if (std::ranges::any_of(seen, [](const auto& run) { return !run.second.ends; })) {
          lows_[scalar.name] = 1;
          made_.notes.push_back(
              fmt::format("{0} is at least 1: with {0} = 0 the kernel does not end", scalar.name));
        }
      } catch (const NoInput&) {
        // A condition or a grid without blocks excludes 0.
      }
    }
  }

  // Arrays whose values decide what is touched hold indices.
  void find_index_arrays() {
    const auto plain = probe(kernel(), 2 * kQuickRuns, all(Fill::zeros));
    for (std::size_t i = 0; i < kernel().arrays.size(); ++i) {
      ArrayParameter& array = kernel().arrays[i];
      if (array.values || is_byte(array)) continue;
      std::vector<Fill> fill = all(Fill::zeros);
      fill[i] = Fill::drawn;
      const auto filled = probe(kernel(), 2 * kQuickRuns, fill);
      const bool decides = !std::ranges::equal(plain, filled, [](const auto& a, const auto& b) {
        return a.second.elements == b.second.elements &&
               a.second.leaves_arrays == b.second.leaves_arrays;
      });
      if (decides) array.values = kIndices;
    }
    // Offsets that are drawn may first lead to the indices: columns after rows of a sparse matrix.
    for (std::size_t round = 0; round < kernel().arrays.size(); ++round) {
      if (!find_indices_behind()) break;
    }
  }

  bool find_indices_behind() {
    std::vector<Fill> fill = all(Fill::zeros);
    for (std::size_t i = 0; i < fill.size(); ++i) {
      if (kernel().arrays[i].values) fill[i] = Fill::drawn;
    }
    const auto known = probe(kernel(), 2 * kQuickRuns, fill);
    for (std::size_t i = 0; i < fill.size(); ++i) {
      ArrayParameter& array = kernel().arrays[i];
      if (array.values || is_byte(array)) continue;
      fill[i] = Fill::drawn;
      const auto filled = probe(kernel(), 2 * kQuickRuns, fill);
      fill[i] = Fill::zeros;
      const bool decides = !std::ranges::equal(known, filled, [](const auto& a, const auto& b) {
        return a.second.elements == b.second.elements &&
               a.second.leaves_arrays == b.second.leaves_arrays;
      });
      if (!decides) continue;
      array.values = kIndices;
      return true;
    }
    return false;
  }

  // Every byte is a possible index, of 256 elements.
  static bool is_byte(const ArrayParameter& array) {
    return std::ranges::all_of(array.columns, [](const ArrayParameter::Column& column) {
      return bytes_of(column.element) == 1;
    });
  }

  [[nodiscard]] bool is_length_given(const ArrayParameter& array) const {
    return with_length_.contains(array.name);
  }

  void fit_lengths() {
    const auto seen = probe(kernel(), kSamples, all(Fill::drawn));
    const auto plain = probe(kernel(), kSamples, all(Fill::zeros));  // of the same shapes
    made_.written.assign(kernel().arrays.size(), false);
    std::vector<Expression> fitted;
    for (std::size_t i = 0; i < kernel().arrays.size(); ++i) {
      std::vector<Sample> samples;
      bool data_decide = false;
      for (std::size_t run = 0; run < seen.size(); ++run) {
        const auto& [input, extents] = seen[run];
        samples.push_back({input, extents.elements[i]});
        if (extents.written[i]) made_.written[i] = true;
        data_decide = data_decide || extents.elements[i] != plain[run].second.elements[i];
      }
      fitted.push_back(is_length_given(kernel().arrays[i])
                           ? kernel().arrays[i].length
                           : length_of_samples(kernel().arrays[i].name, samples, data_decide));
    }
    for (std::size_t i = 0; i < fitted.size(); ++i) {
      if (!is_length_given(kernel().arrays[i])) note_extra(fitted, i);
      kernel().arrays[i].length = fitted[i];
    }
    fit_shared(seen);
  }

  Expression length_of_samples(const std::string& name, const std::vector<Sample>& samples,
                               bool data_decide) {
    std::int64_t most = 0;
    for (const Sample& sample : samples) most = std::max(most, sample.extent);
    if (most == 0) {
      made_.notes.push_back(fmt::format("{} was not accessed in trial runs", name));
    }
    // Indices reach as far as their values.
    if (data_decide) return Expression::number(std::max(most, kIndices.high + 1));
    return fitted_length(kernel(), samples);
  }

  // One array with an element more than another one is what `i <= n` looks like.
  void note_extra(const std::vector<Expression>& lengths, std::size_t i) {
    const std::string& text = lengths[i].text();
    const std::size_t plus = text.rfind(" + ");
    if (plus == std::string::npos || !std::isdigit(static_cast<unsigned char>(text[plus + 3]))) {
      return;
    }
    made_.notes.push_back(fmt::format(
        "{0} is accessed up to {1} elements: if it has {2}, that is a defect, and --length "
        "'{0}={2}' shows it",
        kernel().arrays[i].name, text, text.substr(0, plus)));
  }

  void fit_shared(const std::vector<std::pair<KernelInput, Extents>>& seen) {
    if (kernel().launch.shared_bytes.text() != "0") return;
    std::vector<Sample> samples;
    for (const auto& [input, extents] : seen) samples.push_back({input, extents.shared_bytes});
    kernel().launch.shared_bytes = fitted_length(kernel(), samples);
  }

  void tell() {
    for (const ScalarParameter& scalar : kernel().scalars) {
      made_.scalars.push_back(
          is_integer(scalar.element)
              ? fmt::format("{} = {}..{}", scalar.name, scalar.range.low, scalar.range.high)
              : fmt::format("{}: any {}", scalar.name, name_of(scalar.element)));
    }
    const LaunchRule& launch = kernel().launch;
    made_.launch = fmt::format("block {}, grid {}", shown(launch.block),
                               launch.grid[0]          ? shown(launch.grid)
                               : launch.grid_dims == 0 ? "1"
                                                       : "drawn, covering the numbers or 1..3");
    if (launch.shared_bytes.text() != "0") {
      made_.launch +=
          fmt::format(", {} bytes of dynamic shared memory", launch.shared_bytes.text());
    }
    for (const ArrayParameter& array : kernel().arrays) {
      made_.lengths.push_back(fmt::format("{} = {}", array.name, array.length.text()));
      if (array.values) {
        made_.notes.push_back(fmt::format("values of {} are {}..{}: they decide what is accessed",
                                          array.name, array.values->low, array.values->high));
      }
    }
    for (const std::string& aid : given_.aids_left_out) {
      made_.notes.push_back(fmt::format("not understood, and left out: {}", aid));
    }
    for (const ptx::Variable& variable : module_.variables) {
      if (variable.space == ptx::Space::constant && variable.initial.empty()) {
        made_.notes.push_back("constant memory that host code sets is zero");
        break;
      }
    }
  }

  const Given& given_;
  const ptx::Module& module_;
  const KernelPair pair_;
  Prober prober_;
  Assumptions made_;
  std::set<std::string> with_length_;         // arrays of which somebody has said it
  std::map<std::string, std::int64_t> lows_;  // 0 where there is none
};

}  // namespace

Assumptions assumed(KernelDescription kernel, const ptx::Module& module, const Given& given) {
  return Assuming(std::move(kernel), module, given).all();
}

}  // namespace warpcheck
