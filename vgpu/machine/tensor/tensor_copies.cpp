#include "vgpu/machine/tensor/tensor_copies.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {

using ptx::Space;
using ptx::Type;

namespace {

constexpr std::uint32_t kChunkBytes = 16;      // swizzling moves such chunks as a whole
constexpr std::uint32_t kTileAlignment = 128;  // of a tile in shared memory
constexpr std::uint32_t kMapAlignment = 64;
// Indices of the wide rows after Instr::address_rows; the first two are those of for_each_target().
constexpr std::uint32_t kGlobalRow = 2, kSharedRow = 3, kElementRow = 4;

Ref wide_row(const Instr& instr, std::uint32_t number) {
  return {Bank::wide, instr.address_rows + number * kWideRowBytes};
}

void set_wide(const RunningFragment& run, const Ref& row, unsigned lane, std::uint64_t value) {
  std::memcpy(row_of(run.banks, row) + lane * sizeof value, &value, sizeof value);
}

std::uint64_t address_in(const RunningFragment& run, const Ref& row, unsigned lane) {
  return address_of({row_of(run.banks, row), true, 0, 0}, lane);
}

Type type_of(std::uint32_t bytes) {
  switch (bytes) {
    case 1: return Type::b8;
    case 2: return Type::b16;
    case 8: return Type::b64;
    default: return Type::b32;
  }
}

// The offsets of im2col have 16, 8 or 5 bits, by the number of dimensions; others do not count.
constexpr std::uint32_t kOffsetMasks[] = {0xffff, 0xff, 0x1f};

// Returns the number of offsets of im2col.
std::uint32_t offsets_of(const Instr& instr) {
  const bool has = instr.modifiers.im2col && instr[TensorOperand::object].bank != Bank::none;
  return has ? instr.modifiers.dimensions - 2u : 0;
}

constexpr std::uint32_t kRowsOfGather = 4;

std::uint32_t rows_of(const Instr& instr, const TensorMap& map) {
  return instr.modifiers.four_rows ? kRowsOfGather : map.rows();
}

}  // namespace

Step TensorCopies::execute(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  if (instr.opcode != ptx::Opcode::tensormap_) return copy(run, instr, lanes);
  return instr.modifiers.sync ? copy_map(run, instr, lanes) : replace(run, instr, lanes);
}

Step TensorCopies::copy(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  const std::uint32_t coordinates = ptx::coordinates_of(instr.modifiers);
  for (std::uint32_t i = 0; i < coordinates + offsets_of(instr); ++i) {
    launch_.use_of_undefined(run, UndefinedUse::Kind::address,
                             row_after(instr[TensorOperand::coordinates], i), lanes);
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const Step step = copy_of_lane(run, instr, static_cast<unsigned>(std::countr_zero(rest)));
    if (step == Step::halted) return step;
  }
  return Step::again;
}

Step TensorCopies::copy_of_lane(RunningFragment& run, const Instr& instr, unsigned lane) {
  const ptx::Modifiers& m = instr.modifiers;
  const std::uint64_t place = address_in(run, instr[TensorOperand::map], lane);
  const bool is_store = instr[TensorOperand::object].bank == Bank::none;
  if (is_store) dependencies_.current.begin_asynchronous(true);
  const std::optional<TensorMap> map = read_map(run, instr, Space::generic, lane);
  dependencies_.current.end_asynchronous();
  if (!map || map->is_empty()) return is_no_map(run, lane, place);
  if (const std::string unset = map->unset_field(); !unset.empty()) {
    return launch_.halt(
        run, 1u << lane, Trap::Cause::no_object,
        fmt::format("(1) uses a tensor map at {:#x}, of which nothing has set {}", place, unset));
  }
  if (map->rank != m.dimensions) {
    return launch_.halt(
        run, 1u << lane, Trap::Cause::no_object,
        fmt::format("(1) copies by {}, and the tensor map is of {}",
                    counted(m.dimensions, "coordinate"), counted(map->rank, "dimension")));
  }
  if (map->is_im2col != m.im2col) {
    return launch_.halt(
        run, 1u << lane, Trap::Cause::no_object,
        fmt::format("(1) copies in the mode {}, and the tensor map is of the mode {}",
                    m.im2col ? "im2col" : "tile", m.im2col ? "tile" : "im2col"));
  }
  if (m.four_rows && map->box[1] != 1) {
    return launch_.halt(
        run, 1u << lane, Trap::Cause::no_object,
        fmt::format("(1) copies four rows, and a box of the tensor map has {}, not 1",
                    counted(map->box[1], "row")));
  }
  if (m.reduce && map->atomic_type(m.atom_op) == Type::none) {
    return launch_.refuse(fmt::format("'{}' of elements that have no such operation",
                                      launch_.program().source_of(run.pc).text));
  }
  if (const std::string wrong = wrong_place(run, instr, *map, lane); !wrong.empty()) {
    return launch_.halt(run, 1u << lane, Trap::Cause::map_rule, wrong);
  }
  dependencies_.bulk_copies.for_each_target(run, instr, lane, [&](const Instr& one) {
    Tile tile{.instr = one, .map = *map, .lane = lane};
    for (std::uint32_t i = 0; i < ptx::coordinates_of(m); ++i) {
      const Ref row = row_after(instr[TensorOperand::coordinates], i);
      tile.at[i] = static_cast<std::int32_t>(word_of(run.banks, row, lane));
    }
    for (std::uint32_t i = 0; i < offsets_of(instr); ++i) {
      const Ref row = row_after(instr[TensorOperand::coordinates], map->rank + i);
      tile.offset[i] = static_cast<std::uint16_t>(word_of(run.banks, row, lane) &
                                                  kOffsetMasks[map->rank - kIm2colRankMin]);
    }
    tile.shared = address_in(run, one[TensorOperand::shared], lane);
    tile.tensor = launch_.memory().object_at(map->address);
    const Ref& object = one[TensorOperand::object];
    dependencies_.bulk_copies.begin_asynchronous(run, object, lane, true);
    move_tile(run, tile);
    dependencies_.current.end_asynchronous();
    if (object.bank == Bank::none) return;
    dependencies_.bulk_copies.complete_bytes(run, one, object, {}, map->bytes(rows_of(one, *map)),
                                             lane);
  });
  return Step::again;
}

// Returns why an H200 would raise an illegal-instruction error; empty: it would not.
std::string TensorCopies::wrong_place(const RunningFragment& run, const Instr& instr,
                                      const TensorMap& map, unsigned lane) {
  const bool is_store = instr[TensorOperand::object].bank == Bank::none;
  const TensorUnit unit = map.unit();
  if (is_store && map.is_im2col) return "(1) writes by a tensor map of the mode im2col";
  if (!map.has_known_layout()) {
    return fmt::format(
        "(1) swizzles rows of {} bytes of an interleaved tensor map within {} bytes; that is not "
        "supported",
        map.row_bytes(), map.span());
  }
  for (std::uint32_t i = 0; i < ptx::coordinates_of(instr.modifiers); ++i) {
    const Ref row = row_after(instr[TensorOperand::coordinates], i);
    const std::int64_t at = static_cast<std::int32_t>(word_of(run.banks, row, lane));
    const std::int64_t bytes = at * unit.global_bytes / unit.elements;
    const bool is_of_image = i >= map.width_dimension() && i < map.image_end();
    if (map.is_im2col && is_of_image && (at < map.first(i) || at > map.last(i))) {
      return fmt::format(
          "(1) begins at coordinate {} of dimension {}, outside of the bounding box, which is from "
          "{} to {}",
          at, i, map.first(i), map.last(i));
    }
    if (i == 0 && !map.is_interleaved() && at % map.chunk_elements() != 0) {
      return fmt::format("(1) begins at byte {} of a row of the tensor, which is no multiple of {}",
                         bytes, map.chunk_elements() / unit.elements * unit.global_bytes);
    }
    if (is_store && at < 0) {
      return fmt::format(
          "(1) writes a tile that begins before the tensor, at coordinate {} of "
          "dimension {}",
          at, std::min(i, map.rank - 1));
    }
  }
  return {};
}

// Reads the map by loads of the lane.
std::optional<TensorMap> TensorCopies::read_map(RunningFragment& run, const Instr& instr,
                                                Space space, unsigned lane) {
  constexpr std::uint8_t kWords = kChunkBytes / 4;
  Instr load = part_of_bulk(instr, InstrKind::load, space, Type::b32, kWords);
  load[MemoryOperand::address] = instr[TensorOperand::map];
  load.displacement = 0;
  const std::uint64_t address = address_in(run, instr[TensorOperand::map], lane);
  if (address % kMapAlignment != 0) {
    Target target = dependencies_.targets.of(run, load, address);
    dependencies_.targets.fault(run, load, target, address, lane, kMapAlignment);
    return {};
  }
  TensorMapBytes bytes{};
  for (std::uint32_t at = 0; at < kTensorMapBytes; at += kChunkBytes) {
    load.displacement = at;
    for (std::uint32_t word = 0; word < kWords; ++word) {
      load[MemoryOperand::value + word] = row_after(instr[TensorOperand::rows], word);
    }
    dependencies_.accesses.execute(run, load, 1u << lane);
    for (std::uint32_t word = 0; word < kWords; ++word) {
      const Ref row = row_after(instr[TensorOperand::rows], word);
      launch_.use_of_undefined(run, UndefinedUse::Kind::address, row, 1u << lane);
      const std::uint32_t value = word_of(run.banks, row, lane);
      std::memcpy(bytes.data() + at + word * sizeof value, &value, sizeof value);
    }
  }
  return unpack_tensor_map(bytes);
}

Step TensorCopies::is_no_map(const RunningFragment& run, unsigned lane, std::uint64_t address) {
  return launch_.halt(
      run, 1u << lane, Trap::Cause::no_object,
      fmt::format("(1) uses a tensor map at {:#x}, where cuTensorMapEncodeTiled() made none",
                  address));
}

void TensorCopies::move_tile(RunningFragment& run, const Tile& tile) {
  const TensorMap& map = tile.map;
  if (tile.shared % kTileAlignment != 0) {
    const bool reads = tile.instr[TensorOperand::object].bank == Bank::none;
    const Instr access = part_of_bulk(tile.instr, reads ? InstrKind::load : InstrKind::store,
                                      Space::shared, Type::b32, 1);
    const Target target = dependencies_.targets.of(run, access, tile.shared);
    return dependencies_.targets.fault(run, access, target, tile.shared, tile.lane, kTileAlignment);
  }
  if (tile.instr.modifiers.four_rows) return move_four_rows(run, tile);
  map.is_im2col ? move_pixels(run, tile) : move_boxes(run, tile);
}

// .tile::gather4, .tile::scatter4: rows of the tensor that need not be neighbours, one below the
// other in shared memory.
void TensorCopies::move_four_rows(RunningFragment& run, const Tile& tile) {
  const TensorMap& map = tile.map;
  for (std::uint32_t row = 0; row < kRowsOfGather; ++row) {
    const std::int64_t at = tile.at[1 + row];
    const bool is_inside = at >= 0 && static_cast<std::uint64_t>(at) < map.size[1];
    const std::uint64_t global = map.address + static_cast<std::uint64_t>(at) * map.stride[0];
    move_row(run, tile, is_inside ? std::optional(global) : std::nullopt,
             tile.shared + std::uint64_t{row} * map.row_pitch());
  }
}

void TensorCopies::move_boxes(RunningFragment& run, const Tile& tile) {
  const TensorMap& map = tile.map;
  std::array<std::uint32_t, kTensorDimensionsMax> step{};  // along each dimension but the first
  for (std::uint32_t row = 0; row < map.rows(); ++row) {
    std::uint64_t global = map.address;
    bool is_inside = true;
    for (std::uint32_t i = 1; i < map.rank; ++i) {
      const std::int64_t at = tile.at[i] + static_cast<std::int64_t>(step[i]) * map.element_step[i];
      is_inside &= at >= 0 && static_cast<std::uint64_t>(at) < map.size[i];
      global += static_cast<std::uint64_t>(at) * map.stride[i - 1];
    }
    const auto from = is_inside ? std::optional(global) : std::nullopt;
    const std::uint64_t shared = tile.shared + std::uint64_t{row} * map.row_pitch();
    map.is_interleaved() ? move_slices(run, tile, from, shared) : move_row(run, tile, from, shared);
    for (std::uint32_t i = 1; i < map.rank; ++i) {
      if (++step[i] < map.count(i)) break;
      step[i] = 0;
    }
  }
}

// Moves the channels of pixels (5.5.4).  The base of the filter goes through the box of an image,
// and then through that of the next image.
void TensorCopies::move_pixels(RunningFragment& run, const Tile& tile) {
  const TensorMap& map = tile.map;
  const std::uint32_t width = map.width_dimension(), end = map.image_end(), images = map.rank - 1;
  std::array<std::int64_t, kTensorDimensionsMax> base{};
  std::ranges::copy(tile.at, base.begin());
  for (std::uint32_t pixel = 0; pixel < map.rows(); ++pixel) {
    std::uint64_t global = map.address;
    bool is_inside = true;
    for (std::uint32_t i = width; i < map.rank; ++i) {
      const std::int64_t at = base[i] + (i < end ? tile.offset[i - width] : 0);
      is_inside &= at >= 0 && static_cast<std::uint64_t>(at) < map.size[i];
      const std::uint64_t stride = i == 0 ? map.slice_bytes() : map.stride[i - 1];
      global += static_cast<std::uint64_t>(at) * stride;
    }
    const auto from = is_inside ? std::optional(global) : std::nullopt;
    const std::uint64_t shared = tile.shared + std::uint64_t{pixel} * map.row_pitch();
    map.is_interleaved() ? move_slice(run, tile, from, shared) : move_row(run, tile, from, shared);
    std::uint32_t i = width;
    for (; i < end; ++i) {
      base[i] += map.element_step[i];
      if (base[i] <= map.last(i)) break;
      base[i] = map.first(i);
    }
    if (i == end) base[images] += map.element_step[images];
  }
}

// Moves pixels of a slice along dimension 0 of an interleaved tensor.
//   global: address of the pixel whose first coordinate is 0; empty: the row is outside the tensor
void TensorCopies::move_slices(RunningFragment& run, const Tile& tile,
                               std::optional<std::uint64_t> global, std::uint64_t shared) {
  const TensorMap& map = tile.map;
  for (std::uint32_t i = 0; i < map.count(0); ++i) {
    const std::int64_t at = tile.at[0] + static_cast<std::int64_t>(i) * map.element_step[0];
    const bool is_inside = global && at >= 0 && static_cast<std::uint64_t>(at) < map.size[0];
    const std::uint64_t from =
        global.value_or(0) + static_cast<std::uint64_t>(at) * map.slice_bytes();
    move_slice(run, tile, is_inside ? std::optional(from) : std::nullopt,
               shared + std::uint64_t{i} * map.slice_bytes());
  }
}

// Moves the channels of one pixel of a slice.
void TensorCopies::move_slice(RunningFragment& run, const Tile& tile,
                              std::optional<std::uint64_t> global, std::uint64_t shared) {
  const TensorMap& map = tile.map;
  const bool is_whole = global && !tile.instr.modifiers.reduce;
  const std::uint32_t bytes = is_whole ? kChunkBytes : map.unit().global_bytes;
  for (std::uint32_t at = 0; at < map.slice_bytes(); at += bytes) {
    const std::uint32_t in_chunk = at % kChunkBytes;
    const Piece piece{global.value_or(0) + at, map.swizzled(shared + at - in_chunk) + in_chunk,
                      bytes};
    is_whole ? move_piece(run, tile, piece) : move_unit(run, tile, global.has_value(), piece);
  }
}

// Moves a row along dimension 0, in chunks of shared memory.  A chunk is moved as a whole unless it
// crosses an edge of the tensor, or has an address that is not aligned for an access of 16 bytes.
//   global: address of the element whose first coordinate is 0; empty: the row is outside the
//   tensor
void TensorCopies::move_row(RunningFragment& run, const Tile& tile,
                            std::optional<std::uint64_t> global, std::uint64_t shared) {
  const TensorMap& map = tile.map;
  const TensorUnit unit = map.unit();
  const std::uint32_t in_chunk = map.chunk_elements();
  for (std::uint32_t first = 0; first < map.box[0]; first += in_chunk) {
    const std::int64_t at = tile.at[0] + static_cast<std::int64_t>(first);
    const std::int64_t end = global ? static_cast<std::int64_t>(map.size[0]) : 0;
    const std::int64_t units = at / static_cast<std::int64_t>(unit.elements);
    const std::uint64_t from =
        global.value_or(0) + static_cast<std::uint64_t>(units) * unit.global_bytes;
    const std::uint64_t to =
        map.swizzled(shared + std::uint64_t{first} / unit.elements * unit.shared_bytes);
    const bool is_whole = at >= 0 && at + in_chunk <= end && !tile.instr.modifiers.reduce;
    if (is_whole && from % kChunkBytes == 0 && !unit.is_padded()) {
      move_piece(run, tile, {from, to, kChunkBytes});
      continue;
    }
    for (std::uint32_t i = 0; i < in_chunk / unit.elements; ++i) {
      const std::int64_t here = at + static_cast<std::int64_t>(i) * unit.elements;
      move_unit(run, tile, here >= 0 && here < end,
                {from + std::uint64_t{i} * unit.global_bytes,
                 to + std::uint64_t{i} * unit.shared_bytes, unit.global_bytes});
    }
  }
}

// Moves the data of a unit, or fills their place in shared memory.
void TensorCopies::move_unit(RunningFragment& run, const Tile& tile, bool is_inside,
                             const Piece& unit) {
  constexpr std::uint32_t kWordBytes = 4;  // of units that no access has as a whole
  const std::uint32_t bytes = std::has_single_bit(unit.bytes) ? unit.bytes : kWordBytes;
  for (std::uint32_t at = 0; at < unit.bytes; at += bytes) {
    const Piece piece{unit.global + at, unit.shared + at, bytes};
    if (is_inside) {
      move_piece(run, tile, piece);
    } else if (tile.instr[TensorOperand::object].bank != Bank::none) {
      fill_piece(run, tile, piece);
    }
  }
}

Instr TensorCopies::part(const RunningFragment& run, const Tile& tile, InstrKind kind, Type type,
                         std::uint8_t elements, std::uint64_t address) const {
  const bool loads = tile.instr[TensorOperand::object].bank != Bank::none;
  const bool in_global = loads == (kind == InstrKind::load);
  Instr part =
      part_of_bulk(tile.instr, kind, in_global ? Space::global : Space::shared, type, elements);
  part.displacement = 0;
  const Ref row = wide_row(tile.instr, in_global ? kGlobalRow : kSharedRow);
  set_wide(run, row, tile.lane, address);
  part[MemoryOperand::address] = row;
  for (std::uint32_t i = 0; i < elements; ++i) {
    const Ref value = ptx::bytes_of(type) == 8 ? wide_row(tile.instr, kElementRow)
                                               : row_after(tile.instr[TensorOperand::rows], i);
    if (kind == InstrKind::atomic) {
      part[AtomicOperand::value] = value;
    } else {
      part[MemoryOperand::value + i] = value;
    }
  }
  if (kind == InstrKind::atomic) {
    part.modifiers.atom_op = tile.instr.modifiers.atom_op;
    part.modifiers.order = ptx::Order::relaxed;
    part.modifiers.scope = ptx::Scope::gpu;
  }
  return part;
}

void TensorCopies::move_piece(RunningFragment& run, const Tile& tile, const Piece& piece) {
  if (is_outside(run, tile, piece)) return;
  const bool loads = tile.instr[TensorOperand::object].bank != Bank::none;
  const bool is_chunk = piece.bytes == kChunkBytes;
  const std::uint8_t elements = is_chunk ? kChunkBytes / 4 : 1;
  const Type type = type_of(piece.bytes);
  const Instr load =
      part(run, tile, InstrKind::load, type, elements, loads ? piece.global : piece.shared);
  dependencies_.accesses.execute(run, load, 1u << tile.lane);
  if (loads && tile.map.converts()) convert(run, tile, elements);
  const bool reduces = tile.instr.modifiers.reduce;
  const Instr store = part(run, tile, reduces ? InstrKind::atomic : InstrKind::store,
                           reduces ? tile.map.atomic_type(tile.instr.modifiers.atom_op) : type,
                           elements, loads ? piece.shared : piece.global);
  dependencies_.accesses.execute(run, store, 1u << tile.lane);
}

void TensorCopies::fill_piece(RunningFragment& run, const Tile& tile, const Piece& piece) {
  const Instr store = part(run, tile, InstrKind::store, type_of(piece.bytes), 1, piece.shared);
  const Ref& row = store[MemoryOperand::value];
  const std::uint32_t lanes = 1u << tile.lane;
  launch_.rows().broadcast(row_of(run.banks, row), row.bank == Bank::wide, tile.map.fill(), lanes);
  run.warp.undefined.set(run.frame, row, {}, lanes, launch_.program());
  dependencies_.accesses.execute(run, store, lanes);
}

// Returns whether a piece is inside the tensor but outside the allocation in which the tensor
// begins.
bool TensorCopies::is_outside(const RunningFragment& run, const Tile& tile,
                              const Piece& piece) const {
  if (tile.tensor == nullptr || tile.tensor->contains(piece.global, piece.bytes)) return false;
  const bool loads = tile.instr[TensorOperand::object].bank != Bank::none;
  const Instr access = part_of_bulk(tile.instr, loads ? InstrKind::load : InstrKind::store,
                                    Space::global, type_of(piece.bytes), 1);
  const Allocation* const part = tile.tensor->part_at(0);
  const Target target{const_cast<Allocation*>(part), Space::global, part->address, part->limit(),
                      0};
  dependencies_.targets.fault(run, access, target, piece.global, tile.lane, piece.bytes);
  return true;
}

void TensorCopies::convert(const RunningFragment& run, const Tile& tile,
                           std::uint32_t words) const {
  for (std::uint32_t word = 0; word < words; ++word) {
    const Ref row = row_after(tile.instr[TensorOperand::rows], word);
    std::byte* const place = row_of(run.banks, row) + tile.lane * sizeof(std::uint32_t);
    const std::uint32_t value = tile.map.converted(word_of(run.banks, row, tile.lane));
    std::memcpy(place, &value, sizeof value);
  }
}

}  // namespace warpcheck::vgpu
