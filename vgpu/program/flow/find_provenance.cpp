// Finds the provenance of each address of a program: find_provenance().  See provenance.hpp.
//
// A PTX register has one value here, for all its writes, whatever their order: compilers give every
// value its own register, and copies that meet at a label have one root or several.  Values only
// lose roots, so repeated sweeps over the code terminate.  A root is followed through moves, sums,
// differences, conversions between address spaces, selections, mappings to other blocks of a
// cluster, calls (each call site has its own copy of its callee) and halves of 64-bit values.  Any
// other operation on an address (masks, shifts, hashes) adds the operand's sum to the sums that
// must cancel for the result to be a plain integer.  A value read from memory is an integer, or an
// address of which nothing is known: it may be added to an address, but code that subtracts it may
// compute the distance of two objects.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "vgpu/program/emit/constants.hpp"
#include "vgpu/program/emit/params.hpp"
#include "vgpu/program/flow/provenance_values.hpp"
#include "vgpu/program/operand_roles.hpp"
#include "vgpu/program/shared_windows.hpp"
#include "vgpu/program/unpacking.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;

// Returns whether the first operand is the address that is accessed; of a copy, its target.
bool has_address(InstrKind kind) {
  switch (kind) {
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::atomic:
    case InstrKind::copy:
    case InstrKind::bulk_copy:
    case InstrKind::async_store: return true;
    default: return false;
  }
}

class Flow {
 public:
  Flow(const Layout& layout, const ConstantRows& constants, Program& program)
      : constants_(constants), program_(program), values_(program), frames_(place(layout)) {}

  void run() {
    set_unwritten();
    do {
      has_changed_ = false;
      const std::size_t escaped = values_.escaped();
      for (function_ = 0; function_ < frames_.size(); ++function_) sweep();
      has_changed_ |= values_.escaped() != escaped;
    } while (has_changed_);
    for (function_ = 0; function_ < frames_.size(); ++function_) note_addresses();
  }

 private:
  struct Frame {
    std::uint32_t begin = 0, end = 0;           // code
    std::uint32_t words = 0, wides = 0;         // index of the first cell
    std::uint32_t results = 0, parameters = 0;  // rows of words: results, and both
  };

  std::vector<Frame> place(const Layout& layout) {
    std::vector<Frame> frames;
    std::uint32_t cells = 0;
    for (std::size_t i = 0; i < program_.functions.size(); ++i) {
      const FunctionCode& code = program_.functions[i];
      Frame frame;
      frame.begin = code.entry;
      frame.end = i + 1 < program_.functions.size()
                      ? program_.functions[i + 1].entry
                      : static_cast<std::uint32_t>(program_.code.size());
      frame.words = cells;
      frame.wides = cells + code.words;
      cells = frame.wides + code.wides;
      const ptx::Function& function = *layout.instances[i].function;
      const ParamRows rows = param_rows_of(function, layout);
      frame.parameters = rows.rows;
      frame.results = rows.parameter_row.empty() ? rows.rows : rows.parameter_row.front();
      frames.push_back(frame);
    }
    cells_.assign(cells, Values::kUnset);
    return frames;
  }

  // Returns the cell of a register; null: it is no register of this frame.
  std::uint32_t* cell_of(const Ref& ref) {
    const Frame& frame = frames_[function_];
    if (ref.bank == Bank::wide) return &cells_[frame.wides + ref.offset / kWideRowBytes];
    if (ref.bank != Bank::word) return nullptr;
    const std::uint32_t row = ref.offset / kWordRowBytes;
    const std::uint32_t own = program_.functions[function_].words;
    return row < own ? &cells_[frame.words + row] : &outgoing_.at(row - own);
  }

  std::uint32_t read(const Ref& ref) {
    if (const Root* const root = constants_.root_of(ref)) return values_.of_root(number_of(*root));
    const std::uint32_t* const cell = cell_of(ref);
    return cell == nullptr ? Values::kInteger : *cell;
  }

  void write(const Ref& ref, std::uint32_t value) {
    std::uint32_t* const cell = cell_of(ref);
    if (cell == nullptr) return;
    // The rows of a callee are written again for every call.
    const bool is_outgoing =
        ref.bank == Bank::word && ref.offset / kWordRowBytes >= program_.functions[function_].words;
    if (is_outgoing) {
      *cell = value;
    } else if (value != Values::kUnset) {
      raise(*cell, value);
    }
  }

  void raise(std::uint32_t& cell, std::uint32_t value) {
    const std::uint32_t joined = values_.join(cell, value);
    has_changed_ |= joined != cell;
    cell = joined;
  }

  std::uint32_t number_of(const Root& root) {
    const auto [known, is_new] =
        roots_.try_emplace(root, static_cast<std::uint32_t>(program_.roots.size()));
    if (is_new) program_.roots.push_back(root);
    return known->second;
  }

  void set_unwritten();
  void sweep();
  void step(const Instr& instr);
  void compute(const Instr& instr);
  std::uint32_t computed(const Instr& instr);
  std::uint32_t converted(const Instr& instr);
  [[nodiscard]] std::uint8_t word_of_mask(const Instr& instr) const;
  [[nodiscard]] bool is_in_shared(std::uint32_t value) const;
  [[nodiscard]] bool maps_to_block(const Instr& insertion) const;
  std::uint32_t moved(const Instr& instr, std::uint32_t a, std::int32_t factor);
  void load(const Instr& instr);
  void load_local(const Instr& instr, const LocalPlace& from);
  std::uint32_t& local_cell(const LocalPlace& place, std::int64_t at);
  void store(const Instr& instr);
  void store_local(const Instr& instr, const LocalPlace& to);
  void store_elements(const Instr& instr);
  void store_value(std::uint32_t value);
  void call(const Instr& instr);
  void find_definitions();
  bool is_read_elsewhere(const Ref& ref, unsigned moves_max = 4);
  void note_handed_on(Instr& instr, const Value& address);
  void note_addresses();

  const ConstantRows& constants_;
  Program& program_;
  Values values_;
  std::vector<std::uint32_t> cells_;
  std::vector<Frame> frames_;
  std::map<Root, std::uint32_t> roots_;
  std::map<Provenance, std::uint16_t> provenances_;
  // Of the function whose addresses are noted: by register, its only definition; kNone: several.
  std::map<std::pair<Bank, std::uint32_t>, std::uint32_t> definitions_;
  std::uint32_t function_ = 0;
  std::vector<std::uint32_t> outgoing_;      // rows after the frame, in the order of the code
  std::uint32_t stored_ = Values::kInteger;  // what is known of all values read from memory
  // Local memory that no other code accesses: 4 bytes each, by function and offset.
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> locals_;
  bool has_changed_ = false;
};

// Registers without a visible write hold elements of matrices, or nothing.
void Flow::set_unwritten() {
  std::vector<bool> is_written(cells_.size(), false);
  for (function_ = 0; function_ < frames_.size(); ++function_) {
    const Frame& frame = frames_[function_];
    const FunctionCode& code = program_.functions[function_];
    const bool is_called = !code.by_address && function_ != 0;
    for (std::uint32_t row = 0; is_called && row < frame.parameters; ++row) {
      is_written[frame.words + row] = true;
    }
    for (std::uint32_t pc = frame.begin; pc < frame.end; ++pc) {
      for (const Ref& ref : destinations_of(program_, program_.code[pc])) {
        const bool is_word = ref.bank == Bank::word && ref.offset / kWordRowBytes < code.words;
        if (is_word || ref.bank == Bank::wide) is_written[cell_of(ref) - cells_.data()] = true;
      }
    }
    for (std::uint32_t row = 0; row < code.words + code.wides; ++row) {
      if (is_written[frame.words + row]) continue;
      cells_[frame.words + row] = row < code.words ? Values::kInteger : Values::kUnknown;
    }
  }
}

void Flow::sweep() {
  outgoing_.assign(program_.functions[function_].outgoing_words, Values::kInteger);
  for (std::uint32_t pc = frames_[function_].begin; pc < frames_[function_].end; ++pc) {
    step(program_.code[pc]);
  }
}

void Flow::step(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::compute: return compute(instr);
    case InstrKind::warp:
    case InstrKind::warp_sync: {
      const std::uint32_t value =
          values_.mix({read(instr[WarpOperand::value]), read(instr[WarpOperand::lane]),
                       read(instr[WarpOperand::clamp]), read(instr[WarpOperand::members])});
      write(instr[WarpOperand::result], value);
      return write(instr[WarpOperand::predicate], value);
    }
    case InstrKind::param: {
      const bool may_be_address =
          ptx::bytes_of(instr.modifiers.type) == 8 && instr.modifiers.type != Type::f64;
      const Root root{Root::Kind::parameter, static_cast<std::uint32_t>(instr.parameter_offset)};
      return write(instr[ScalarOperand::result],
                   may_be_address ? values_.of_root(number_of(root)) : Values::kInteger);
    }
    case InstrKind::load: return load(instr);
    case InstrKind::store: return store(instr);
    case InstrKind::async_store: return store_elements(instr);
    case InstrKind::atomic:
      values_.escape(read(instr[AtomicOperand::address]));
      store_value(read(instr[AtomicOperand::value]));
      store_value(read(instr[AtomicOperand::swap]));
      return load(instr);
    case InstrKind::local_address:
      return write(instr[ScalarOperand::result], values_.of_local(function_, instr.local_offset));
    case InstrKind::heap_allocate: return write(instr[HeapOperand::result], Values::kUnknown);
    case InstrKind::device_call:
      write(program_.device_calls[instr.device_call].result, Values::kUnknown);
      return write(program_.device_calls[instr.device_call].stored, Values::kUnknown);
    case InstrKind::stack: return write(instr[StackOperand::result], Values::kUnknown);
    case InstrKind::call: return call(instr);
    // A value returned by an unknown function counts as read from memory.
    case InstrKind::call_register:
      for (const std::uint32_t value : outgoing_) store_value(value);
      return outgoing_.assign(outgoing_.size(),
                              values_.with_differences(Values::kInteger, stored_));
    default:
      for (const Ref& ref : destinations_of(program_, instr)) write(ref, Values::kInteger);
  }
}

void Flow::compute(const Instr& instr) {
  using enum ComputeOperand;
  if (instr[d].bank == Bank::predicate) return;
  if (!unpacks(instr)) return write(instr[d], computed(instr));
  const std::uint32_t whole = read(instr[a]);
  if (instr.modifiers.vector == 2 && instr[a].bank != Bank::word) {
    write(instr[kUnpackedParts[0]], values_.part_of(whole, Part::low));
    return write(instr[kUnpackedParts[1]], values_.part_of(whole, Part::high));
  }
  for (const Ref& ref : destinations_of(program_, instr)) write(ref, values_.mix({whole}));
}

// Returns the value of the instruction's destination.
std::uint32_t Flow::computed(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const std::uint32_t a = read(instr[ComputeOperand::a]), b = read(instr[ComputeOperand::b]),
                      c = read(instr[ComputeOperand::c]);
  const auto mixed = [&] { return values_.mix({a, b, c, read(instr[ComputeOperand::f])}); };
  switch (instr.opcode) {
    case Opcode::mov_:
      if (m.vector == 1) return a;
      return m.vector == 2 && instr[ComputeOperand::d].bank == Bank::wide ? values_.joined(a, b)
                                                                          : mixed();
    case Opcode::cvta_: return a;
    case Opcode::cvt_: return converted(instr);
    case Opcode::selp_:
    case Opcode::slct_: return values_.join(a, b);
    default: break;
  }
  if (ptx::is_float(m.type) && !ptx::is_packed(m.type)) return Values::kInteger;
  const bool is_whole = !ptx::is_packed(m.type) && !m.sat;
  switch (is_whole ? instr.opcode : Opcode::invalid) {
    case Opcode::add_: return moved(instr, a, 1);
    case Opcode::sub_: return moved(instr, a, -1);
    case Opcode::neg_: return values_.sum(Values::kInteger, a, -1);
    case Opcode::mad_:
      return m.part == ptx::MulPart::hi ? mixed() : values_.sum(values_.mix({a, b}), c, 1);
    case Opcode::and_: return values_.around(mixed(), word_of_mask(instr));
    case Opcode::bfi_: return maps_to_block(instr) && is_in_shared(b) ? b : mixed();
    default: return mixed();
  }
}

// Returns 4 for `and.b64 x, -4`, which makes the address of the word that contains x; 0: the mask
// is another one.
std::uint8_t Flow::word_of_mask(const Instr& instr) const {
  const Ref& mask = instr[ComputeOperand::b];
  if (ptx::bytes_of(instr.modifiers.type) != 8 || mask.bank != Bank::constant) return 0;
  std::int64_t bits = 0;
  std::memcpy(&bits, program_.constants.data() + mask.offset, sizeof bits);
  return bits == -2 || bits == -4 || bits == -8 ? static_cast<std::uint8_t>(-bits) : 0;
}

// Returns whether the value contains the address of a variable in shared memory.
bool Flow::is_in_shared(std::uint32_t value) const {
  return std::ranges::any_of(values_[value].made_from.sum, [&](const RootTerm& term) {
    return program_.roots[term.root].kind == Root::Kind::shared;
  });
}

// Returns whether an insertion of bits makes an address in another block of the cluster, as mapa
// does: the same place there is in the same variable.
bool Flow::maps_to_block(const Instr& insertion) const {
  const auto is_constant = [&](ComputeOperand operand, std::uint32_t expected) {
    const Ref& ref = insertion[operand];
    std::uint32_t value = 0;
    if (ref.bank != Bank::constant) return false;
    std::memcpy(&value, program_.constants.data() + ref.offset, sizeof value);
    return value == expected;
  };
  return is_constant(ComputeOperand::c, kRankShift) && is_constant(ComputeOperand::f, kRankBits);
}

// Addresses of shared memory have 32 bits or 64.
std::uint32_t Flow::converted(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const std::uint32_t from = read(instr[ComputeOperand::a]);
  if (from == Values::kUnset || from == Values::kInteger) return from;
  if (ptx::is_float(m.type) || ptx::is_float(m.source_type)) return Values::kInteger;
  const std::uint32_t to_bytes = ptx::bytes_of(m.type);
  const bool keeps = to_bytes == 8 || (to_bytes == 4 && is_in_shared(from));
  const bool is_whole = !m.pack && !m.sat && values_[from].part == Part::whole;
  return keeps && is_whole && ptx::bytes_of(m.source_type) >= 4 ? from : values_.mix({from});
}

// Returns a + factor * b.
std::uint32_t Flow::moved(const Instr& instr, std::uint32_t a, std::int32_t factor) {
  const Ref& b = instr[ComputeOperand::b];
  if (b.bank != Bank::constant || constants_.root_of(b) != nullptr) {
    return values_.sum(a, read(b), factor);
  }
  std::int64_t by = 0;
  std::memcpy(&by, program_.constants.data() + b.offset, sizeof by);  // a row has 32 lanes
  if (ptx::bytes_of(instr.modifiers.type) == 4) by = static_cast<std::int32_t>(by);
  return values_.moved(a, factor * by);
}

void Flow::load(const Instr& instr) {
  const Value& address = values_[read(instr[MemoryOperand::address])];
  const bool is_local = address.local.function != ptx::kNone && address.local.is_known;
  if (is_local && address.part == Part::whole && !values_.has_escaped(address.local.function)) {
    return load_local(instr, LocalPlace(address.local));
  }
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  for (const Ref& ref : destinations_of(program_, instr)) {
    if (bytes < 4 || ptx::is_float(instr.modifiers.type)) {
      write(ref, Values::kInteger);
    } else {
      const std::uint32_t value = bytes >= 8 ? Values::kUnknown : Values::kInteger;
      write(ref, values_.with_differences(value, stored_));
    }
  }
}

// Returns the cell of the 4 bytes that contain byte `at` from `place` on.
std::uint32_t& Flow::local_cell(const LocalPlace& place, std::int64_t at) {
  return locals_[{place.function, (place.offset + at) >> 2}];
}

void Flow::load_local(const Instr& instr, const LocalPlace& from) {
  const std::uint32_t bytes = std::min(ptx::bytes_of(instr.modifiers.type), 8u);
  std::int64_t at = instr.displacement;
  for (const Ref& ref : destinations_of(program_, instr)) {
    const std::uint32_t low = local_cell(from, at), high = local_cell(from, at + 4);
    const bool is_whole = (from.offset + at) % 4 == 0;
    at += bytes;
    if (ref.bank == Bank::none) continue;
    if (bytes == 8) {
      write(ref, is_whole ? values_.joined(low, high) : values_.mix({low, high}, true));
    } else {
      write(ref, bytes == 4 && is_whole ? low : values_.mix({low, high}));
    }
  }
}

void Flow::store(const Instr& instr) {
  const std::uint32_t address = read(instr[MemoryOperand::address]);
  const LocalPlace to = values_[address].local;
  if (to.function != ptx::kNone) {
    if (!to.is_known || values_[address].part != Part::whole) values_.escape(address);
    if (!values_.has_escaped(to.function)) return store_local(instr, to);
  }
  store_elements(instr);
}

void Flow::store_elements(const Instr& instr) {
  for (std::size_t i = 0; i < kElementsMax; ++i) {
    store_value(read(instr[MemoryOperand::value + i]));
  }
}

void Flow::store_local(const Instr& instr, const LocalPlace& to) {
  const std::uint32_t bytes = std::min(ptx::bytes_of(instr.modifiers.type), 8u);
  std::int64_t at = instr.displacement;
  for (std::size_t i = 0; i < kElementsMax; ++i, at += bytes) {
    const Ref& element = instr[MemoryOperand::value + i];
    if (element.bank == Bank::none) continue;
    const std::uint32_t value = read(element);
    const bool is_whole = bytes >= 4 && (to.offset + at) % 4 == 0;
    if (is_whole && bytes == 8) {
      raise(local_cell(to, at), values_.part_of(value, Part::low));
      raise(local_cell(to, at + 4), values_.part_of(value, Part::high));
    } else {
      const std::uint32_t stored = is_whole ? value : values_.mix({value});
      raise(local_cell(to, at), stored);
      if (!is_whole) raise(local_cell(to, at + bytes - 1), stored);
      if (!is_whole && bytes == 8) raise(local_cell(to, at + 4), stored);
    }
  }
}

void Flow::store_value(std::uint32_t value) {
  values_.escape(value);
  raise(stored_, values_.mix({stored_, values_.as_stored(value)}));
}

void Flow::call(const Instr& instr) {
  const Frame& callee = frames_[instr.function];
  for (std::uint32_t row = callee.results; row < callee.parameters; ++row) {
    raise(cells_[callee.words + row], outgoing_.at(row));
  }
  outgoing_.assign(outgoing_.size(), Values::kInteger);
  for (std::uint32_t row = 0; row < callee.results; ++row) {
    outgoing_.at(row) = cells_[callee.words + row];
  }
}

void Flow::find_definitions() {
  definitions_.clear();
  for (std::uint32_t pc = frames_[function_].begin; pc < frames_[function_].end; ++pc) {
    for (const Ref& ref : destinations_of(program_, program_.code[pc])) {
      const auto [known, is_new] = definitions_.try_emplace({ref.bank, ref.offset}, pc);
      if (!is_new) known->second = ptx::kNone;
    }
  }
}

// Returns whether a register's only definition reads it from memory that is surely not local.
bool Flow::is_read_elsewhere(const Ref& ref, unsigned moves_max) {
  const auto found = definitions_.find({ref.bank, ref.offset});
  if (found == definitions_.end() || found->second == ptx::kNone) return false;
  const Instr& instr = program_.code[found->second];
  if (instr.kind == InstrKind::compute) {  // moved on, or converted
    const bool moves = instr.opcode == Opcode::mov_ || instr.opcode == Opcode::cvta_;
    return moves && moves_max != 0 && is_read_elsewhere(instr[ComputeOperand::a], moves_max - 1);
  }
  if (instr.kind != InstrKind::load || ptx::bytes_of(instr.modifiers.type) != 8) return false;
  if (instr.modifiers.space != ptx::Space::generic) {
    return instr.modifiers.space == ptx::Space::shared ||
           instr.modifiers.space == ptx::Space::global;
  }
  const Value& address = values_[read(instr[MemoryOperand::address])];
  return address.local.function == ptx::kNone && !address.unknown && !address.lost &&
         !address.made_from.sum.empty();
}

// Marks a store of an address that means something else to other threads.
void Flow::note_handed_on(Instr& instr, const Value& address) {
  if (ptx::bytes_of(instr.modifiers.type) != 8 || address.local.function != ptx::kNone) return;
  for (std::size_t i = 0; i < kElementsMax; ++i) {
    const Ref& element = instr[MemoryOperand::value + i];
    if (element.bank == Bank::none) continue;
    const Value& value = values_[read(element)];
    const RootSum& sum = value.made_from.sum;
    const bool is_shared =
        sum.size() == 1 && program_.roots[sum.front().root].kind == Root::Kind::shared;
    instr.hands_on |= value.local.function != ptx::kNone || is_shared;
  }
  program_.hands_on_pointers |= instr.hands_on;
}

void Flow::note_addresses() {
  outgoing_.assign(program_.functions[function_].outgoing_words, Values::kInteger);
  find_definitions();
  for (std::uint32_t pc = frames_[function_].begin; pc < frames_[function_].end; ++pc) {
    Instr& instr = program_.code[pc];
    if (!has_address(instr.kind)) continue;
    const Value& address = values_[read(instr[MemoryOperand::address])];
    if (instr.kind == InstrKind::store) note_handed_on(instr, address);
    instr.is_read_address = is_read_elsewhere(instr[MemoryOperand::address]);
    instr.is_word_around = address.word != 0 && address.part == Part::whole &&
                           address.word == ptx::bytes_of(instr.modifiers.type) &&
                           instr.modifiers.vector == 1 && instr.displacement == 0;
    if (address.lost || address.part != Part::whole) continue;
    const bool is_local = address.local.function != ptx::kNone;
    const Provenance& from =
        is_local ? Provenance{{}, {}, address.local.function} : address.made_from;
    if (!is_local && from.sum.empty()) continue;
    const auto known = provenances_.find(from);
    if (known != provenances_.end()) {
      instr.provenance = known->second;
    } else if (program_.provenances.size() <= UINT16_MAX) {
      instr.provenance = static_cast<std::uint16_t>(program_.provenances.size());
      provenances_.emplace(from, instr.provenance);
      program_.provenances.push_back(from);
    }
  }
}

}  // namespace

void find_provenance(const Layout& layout, const ConstantRows& constants, Program& program) {
  program.provenances.emplace_back();
  Flow(layout, constants, program).run();
}

}  // namespace warpcheck::vgpu
