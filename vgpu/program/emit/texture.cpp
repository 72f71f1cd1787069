// Emits texture and surface instructions (PTX ISA 9.7.10, 9.7.11) on objects, whose handles are in
// registers.  A test has compared each supported form with a real GPU.  Texture references,
// formatted surface accesses, reductions and multi-sample textures are refused.  So are txq and
// suq, which a real driver (CUDA 13.0) also refuses to launch.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Type;

namespace {

constexpr const char* kNoSuchForm = "the machine has no such form";

using Words = std::vector<std::string_view>;
using Operation = TextureInstr::Operation;

Words words_after_opcode(std::string_view mnemonic) {
  Words words;
  for (std::size_t dot = mnemonic.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = mnemonic.find('.', dot + 1);
    words.push_back(
        mnemonic.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1));
    dot = next;
  }
  return words;
}

// Removes and returns the first word if it names one of the values.
template <class Value, std::size_t count>
std::optional<Value> take(Words& words, const std::pair<std::string_view, Value> (&names)[count]) {
  if (words.empty()) return std::nullopt;
  for (const auto& [name, value] : names) {
    if (name != words.front()) continue;
    words.erase(words.begin());
    return value;
  }
  return std::nullopt;
}

bool take_word(Words& words, std::string_view word) {
  if (words.empty() || words.front() != word) return false;
  words.erase(words.begin());
  return true;
}

constexpr std::pair<std::string_view, Geometry> kGeometries[] = {
    {"1d", Geometry::line},    {"2d", Geometry::plane},   {"3d", Geometry::volume},
    {"a1d", Geometry::lines},  {"a2d", Geometry::planes}, {"cube", Geometry::cube},
    {"acube", Geometry::cubes}};
constexpr std::pair<std::string_view, Type> kResults[] = {
    {"f32", Type::f32}, {"s32", Type::s32}, {"u32", Type::u32}};
constexpr std::pair<std::string_view, bool> kCoordinates[] = {{"f32", false}, {"s32", true}};
constexpr std::pair<std::string_view, std::uint8_t> kComponents[] = {
    {"r", 0}, {"g", 1}, {"b", 2}, {"a", 3}};
constexpr std::pair<std::string_view, Type> kElementTypes[] = {
    {"b8", Type::b8}, {"b16", Type::b16}, {"b32", Type::b32}, {"b64", Type::b64}};
constexpr std::pair<std::string_view, std::uint8_t> kVectors[] = {{"v2", 2}, {"v4", 4}};
constexpr std::pair<std::string_view, TextureInstr::Boundary> kBoundaries[] = {
    {"trap", TextureInstr::Boundary::trap},
    {"clamp", TextureInstr::Boundary::clamp},
    {"zero", TextureInstr::Boundary::zero}};
bool is_layered(Geometry geometry) {
  return geometry == Geometry::lines || geometry == Geometry::planes || geometry == Geometry::cubes;
}

std::size_t coordinate_count(Geometry geometry) {
  switch (geometry) {
    case Geometry::line:
    case Geometry::lines: return 1;
    case Geometry::plane:
    case Geometry::planes: return 2;
    default: return 3;
  }
}

// tex[.level|.grad].geom.v4.dtype.ctype, tld4.comp.2d.v4.dtype.f32
bool read_fetch(Words words, bool gathers, TextureInstr& out) {
  out.operation = gathers                     ? Operation::gather
                  : take_word(words, "level") ? Operation::level
                  : take_word(words, "grad")  ? Operation::gradient
                                              : Operation::fetch;
  if (gathers) {
    const auto component = take(words, kComponents);
    if (!component) return false;
    out.component = *component;
  }
  const auto geometry = take(words, kGeometries);
  const bool is_vector = take_word(words, "v4");
  const auto result = take(words, kResults);
  const auto integers = take(words, kCoordinates);
  if (!geometry || !is_vector || !result || !integers || !words.empty()) return false;
  if (gathers && (*geometry != Geometry::plane || *integers)) return false;
  // Only tex1Dfetch() has integer coordinates.
  if (*integers && (*geometry != Geometry::line || out.operation != Operation::fetch)) return false;
  const bool is_cube = *geometry == Geometry::cube || *geometry == Geometry::cubes;
  if (is_cube && out.operation == Operation::gradient) return false;
  out.geometry = *geometry;
  out.integer_coordinates = *integers;
  out.count = 4;
  return true;
}

// suld.b.geom[.cache][.vec].type.mode, sust.b.geom[.cache][.vec].type.mode
bool read_surface_access(Words words, TextureInstr& out) {
  const bool is_unformatted = take_word(words, "b");
  const auto geometry = take(words, kGeometries);
  for (const std::string_view cache : {"ca", "cg", "cs", "cv", "wb", "wt"}) {
    if (take_word(words, cache)) break;  // it cannot be observed
  }
  out.count = take(words, kVectors).value_or(1);
  const auto element = take(words, kElementTypes);
  const auto boundary = take(words, kBoundaries);
  if (!is_unformatted || !geometry || !element || !boundary || !words.empty()) return false;
  if (*geometry == Geometry::cube || *geometry == Geometry::cubes) return false;
  if (ptx::bytes_of(*element) * out.count > 16) return false;
  out.geometry = *geometry;
  out.type = *element;
  out.boundary = *boundary;
  return true;
}

// [object, {layer, x, y, z}]: further elements in the text are ignored.
void place_coordinates(Emission& e, const ptx::Instruction& in, const ptx::Operand& place,
                       Type type, TextureInstr& out) {
  if (place.kind != Kind::address || place.index == ptx::kNone || place.offset != 0) {
    e.refuse(in, "an object that is not in a register");
  }
  out.object = e.frame.row_of(place.index);
  if (out.object.bank != Bank::wide) e.refuse(in, "a handle that has not 64 bits");
  if (place.parts.size() != 1) e.refuse(in, "offsets, or a sampler of its own");
  const ptx::Operand& list = place.parts.front();
  const std::vector<ptx::Operand> single{list};
  const std::vector<ptx::Operand>& parts = list.kind == Kind::vector ? list.parts : single;
  std::size_t next = 0;
  const auto part = [&](Type wanted) {
    if (next == parts.size()) e.refuse(in, "too few coordinates");
    return e.source(in, parts[next++], wanted);
  };
  if (is_layered(out.geometry)) out.layer = part(Type::u32);
  for (std::size_t i = 0; i < coordinate_count(out.geometry); ++i) out.at[i] = part(type);
}

std::array<Ref, 3> vector_operand(Emission& e, const ptx::Instruction& in,
                                  const ptx::Operand& operand, const TextureInstr& out) {
  const std::vector<ptx::Operand> single{operand};
  const std::vector<ptx::Operand>& parts = operand.kind == Kind::vector ? operand.parts : single;
  const std::size_t count = coordinate_count(out.geometry);
  if (parts.size() < count) e.refuse(in, "a gradient of too few elements");
  std::array<Ref, 3> refs;
  for (std::size_t i = 0; i < count; ++i) refs[i] = e.source(in, parts[i], Type::f32);
  return refs;
}

void emit_fetch(Emission& e, const ptx::Instruction& in, TextureInstr& out) {
  const std::size_t operands = out.operation == Operation::level      ? 3
                               : out.operation == Operation::gradient ? 4
                                                                      : 2;
  if (in.operands.size() != operands) e.refuse(in, "offsets, or a depth to compare with");
  const ptx::Operand* results = &in.operands[0];
  if (results->kind == Kind::vector && results->pair) {  // {r, g, b, a}|p
    out.is_resident = e.destination(in, results->parts.at(1));
    results = &results->parts.at(0);
  }
  if (results->kind != Kind::vector || results->parts.size() != out.count) {
    e.refuse(in, "expected four results");
  }
  for (std::size_t i = 0; i < out.count; ++i) {
    out.values[i] = e.destination(in, results->parts[i]);
  }
  place_coordinates(e, in, in.operands[1], out.integer_coordinates ? Type::s32 : Type::f32, out);
  if (out.operation == Operation::level) out.level = e.source(in, in.operands[2], Type::f32);
  if (out.operation == Operation::gradient) {
    out.dx = vector_operand(e, in, in.operands[2], out);
    out.dy = vector_operand(e, in, in.operands[3], out);
  }
}

void emit_surface_access(Emission& e, const ptx::Instruction& in, TextureInstr& out) {
  if (in.operands.size() != 2) e.refuse(in, "expected values and a place");
  const bool loads = out.operation == Operation::load;
  place_coordinates(e, in, in.operands[loads ? 1 : 0], Type::s32, out);
  const ptx::Operand& values = in.operands[loads ? 0 : 1];
  const std::vector<ptx::Operand> single{values};
  const std::vector<ptx::Operand>& parts = values.kind == Kind::vector ? values.parts : single;
  if (parts.size() != out.count) e.refuse(in, "a vector of another length");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_register =
        parts[i].kind == Kind::reg && e.frame.row_of(parts[i].index).bank != Bank::predicate;
    out.values[i] = loads ? e.destination(in, parts[i])
                    : is_register
                        ? e.frame.row_of(parts[i].index)  // may be wider than the stored type
                        : e.source(in, parts[i], out.type);
  }
}

}  // namespace

void emit_texture(Emission& e, const ptx::Instruction& in, Instr& out) {
  TextureInstr texture;
  const Words words = words_after_opcode(in.text);
  if (in.opcode == Opcode::tex_ || in.opcode == Opcode::tld4_) {
    if (!read_fetch(words, in.opcode == Opcode::tld4_, texture)) e.refuse(in, kNoSuchForm);
    emit_fetch(e, in, texture);
  } else {
    texture.operation = in.opcode == Opcode::suld_ ? Operation::load : Operation::store;
    if (!read_surface_access(words, texture)) e.refuse(in, kNoSuchForm);
    emit_surface_access(e, in, texture);
  }
  out.kind = InstrKind::texture;
  out.texture = static_cast<std::uint32_t>(e.program.texture_instrs.size());
  e.program.texture_instrs.push_back(texture);
  e.push(out);
}

}  // namespace warpcheck::vgpu
