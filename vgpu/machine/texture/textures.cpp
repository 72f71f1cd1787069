#include "vgpu/machine/texture/textures.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "vgpu/machine/texture/texture_sampling.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {

using Operation = TextureInstr::Operation;

// The texels that the lanes of one fetch read.
struct Textures::Fetch {
  std::array<Footprint, kWarpLanes> footprint;
  // For each lane and texel: its bytes, up to 16.
  std::array<std::array<std::array<std::byte, 16>, 16>, kWarpLanes> texel;
  std::array<UndefinedLanes, 4> undefined;  // of each channel
};

Textures::Textures(RunningLaunch& launch, const Targets& targets, CurrentAccess& current,
                   Accesses& accesses)
    : launch_(launch), targets_(targets), current_(current), accesses_(accesses) {}

Textures::~Textures() = default;

Step Textures::execute(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  const TextureInstr& texture = launch_.program().texture_instrs[instr.texture];
  if (run.warp.undefined.any()) [[unlikely]] {
    launch_.use_of_undefined(run, UndefinedUse::Kind::address, texture.object, lanes);
    launch_.use_of_undefined(run, UndefinedUse::Kind::address, texture.layer, lanes);
    for (const Ref& coordinate : texture.at) {
      launch_.use_of_undefined(run, UndefinedUse::Kind::address, coordinate, lanes);
    }
  }
  if (texture.is_resident.bank == Bank::predicate) {
    std::byte* const row = row_of(run.banks, texture.is_resident);
    const std::uint32_t value = read_predicate(run.banks, texture.is_resident) | lanes;
    std::memcpy(row, &value, sizeof value);
    run.warp.undefined.set(run.frame, texture.is_resident, {}, lanes, launch_.program());
  }
  for (std::uint32_t rest = lanes; rest != 0;) {
    const auto lead = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t handle = lane_value(run, texture.object, lead);
    std::uint32_t group = 0;
    for (std::uint32_t others = rest; others != 0; others &= others - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(others));
      if (lane_value(run, texture.object, lane) == handle) group |= 1u << lane;
    }
    rest &= ~group;
    const bool of_surface =
        texture.operation == Operation::load || texture.operation == Operation::store;
    const TextureTable::Object* const object =
        launch_.request().textures == nullptr
            ? nullptr
            : launch_.request().textures->find(handle, launch_.request().asked_as);
    if (object != nullptr && std::holds_alternative<TextureTable::Destroyed>(*object)) {
      destroyed_object(run, texture, lead);
      zero_values(run, texture, group);
    } else if (object != nullptr && of_surface && std::holds_alternative<Surface>(*object)) {
      const Step step = access_surface(run, texture, std::get<Surface>(*object), group);
      if (step == Step::halted) return step;
    } else if (object != nullptr && !of_surface && std::holds_alternative<Texture>(*object)) {
      fetch_texels(run, texture, std::get<Texture>(*object), group);
    } else {
      return launch_.halt(run, group, Trap::Cause::no_object,
                          fmt::format("(1) uses the handle {:#x}, which is no {} object", handle,
                                      of_surface ? "surface" : "texture"));
    }
  }
  return Step::again;
}

void Textures::destroyed_object(const RunningFragment& run, const TextureInstr& texture,
                                unsigned lane) const {
  Fault fault;
  fault.kind = Fault::Kind::destroyed_object;
  fault.program = &launch_.program();
  fault.place = launch_.place_of(run.slot, run.warp);
  fault.pc = run.pc;
  fault.lane = lane;
  fault.space = ptx::Space::global;
  fault.access = texture.operation == Operation::store ? AccessKind::write : AccessKind::read;
  fault.address = lane_value(run, texture.object, lane);
  launch_.notify([&](Observer& observer) { observer.on_fault(fault); });
}

void Textures::zero_values(RunningFragment& run, const TextureInstr& instr,
                           std::uint32_t lanes) const {
  if (instr.operation == Operation::store) return;
  for (std::size_t i = 0; i < instr.count; ++i) {
    const Ref& ref = instr.values[i];
    if (ref.bank == Bank::none) continue;
    launch_.rows().broadcast(row_of(run.banks, ref), ref.bank == Bank::wide, 0, lanes);
    run.warp.undefined.set(run.frame, ref, {}, lanes, launch_.program());
  }
}

// ---- textures ----

namespace {

Footprint footprint_of_lane(const RunningFragment& run, const TextureInstr& instr,
                            const Texture& texture, unsigned lane) {
  const auto real = [&](const Ref& ref) {
    return ref.bank == Bank::none ? 0.0F : std::bit_cast<float>(word_of(run.banks, ref, lane));
  };
  const auto vector = [&](const std::array<Ref, 3>& refs) {
    return std::array<float, 3>{real(refs[0]), real(refs[1]), real(refs[2])};
  };
  FetchPlace place;
  place.at = vector(instr.at);
  if (instr.layer.bank != Bank::none) place.layer = word_of(run.banks, instr.layer, lane);
  switch (instr.operation) {
    case Operation::gather: return footprint_of_gather(texture, place);
    case Operation::level: place.level = real(instr.level); break;
    case Operation::gradient:
      place.level = level_of_gradient(texture, vector(instr.dx), vector(instr.dy));
      break;
    default: break;
  }
  return footprint_of(texture, place);
}

// The texels of lanes that read one texel each.
struct TexelRow {
  std::array<std::uint32_t, kWarpLanes> x, y, layer;
  std::uint32_t inside = 0;  // lanes that do not read the border
};

TexelRow texels_of(const RunningFragment& run, const TextureInstr& instr, const Texture& texture,
                   std::uint32_t lanes) {
  const TexelBox& box = texture.levels.front();
  TexelRow row;
  row.y.fill(0);
  row.layer.fill(0);
  if (instr.integer_coordinates) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      row.x[lane] = word_of(run.banks, instr.at[0], lane);
      const bool is_inside = static_cast<std::int32_t>(row.x[lane]) >= 0 && row.x[lane] < box.width;
      row.inside |= std::uint32_t{is_inside} << lane;
    }
    return row;
  }
  const auto along = [&](std::size_t side, std::uint32_t size, std::uint32_t* texels) {
    std::array<float, kWarpLanes> at{};
    const Ref& ref = instr.at[side];
    if (ref.bank != Bank::none) std::memcpy(at.data(), row_of(run.banks, ref), sizeof at);
    return nearest_texels(texture, side, size, at.data(), lanes, texels);
  };
  row.inside = along(0, box.width, row.x.data());
  if (texture.shape == TextureShape::plane) row.inside &= along(1, box.height, row.y.data());
  if (!texture.layered || instr.layer.bank == Bank::none) return row;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    row.layer[lane] = std::min(word_of(run.banks, instr.layer, lane), box.layers - 1);
  }
  return row;
}

std::uint64_t offset_of(const TexelBox& box, std::uint32_t texel_bytes, std::uint32_t x,
                        std::uint32_t y, std::uint32_t layer) {
  return box.offset + layer * box.slice + y * box.pitch + std::uint64_t{x} * texel_bytes;
}

template <class T>
T channel_as(const std::byte* texel, std::uint32_t channel) {
  T value = 0;
  std::memcpy(&value, texel + channel * sizeof value, sizeof value);
  return value;
}

std::uint32_t channel_of(const std::byte* texel, const TexelFormat& format, std::uint32_t channel) {
  switch (format.bits) {
    case 8: return channel_as<std::uint8_t>(texel, channel);
    case 16: return channel_as<std::uint16_t>(texel, channel);
    default: return channel_as<std::uint32_t>(texel, channel);
  }
}

// Copies a texel: a number of bytes that the compiler knows is no call.
void copy_texel(std::array<std::byte, 16>& to, const std::byte* from, std::uint32_t bytes) {
  switch (bytes) {
    case 1: to[0] = *from; break;
    case 2: std::memcpy(to.data(), from, 2); break;
    case 4: std::memcpy(to.data(), from, 4); break;
    case 8: std::memcpy(to.data(), from, 8); break;
    default: std::memcpy(to.data(), from, 16); break;
  }
}

// Returns a load as which texels are reported.
Instr load_of(const TexelFormat& format) {
  Instr load;
  load.kind = InstrKind::load;
  load.modifiers.type = format.bits == 32   ? ptx::Type::b32
                        : format.bits == 16 ? ptx::Type::b16
                                            : ptx::Type::b8;
  load.modifiers.vector = format.channels;
  return load;
}

}  // namespace

// Reports the lanes in `group`, whose texels are at the offsets of the current access.
void Textures::announce(RunningFragment& run, const TexelFormat& format, Allocation& memory,
                        const Instr& load, std::uint32_t group) {
  Access& access = current_.access;
  access.undefined = 0;
  if (!current_.is_watched()) return;
  const std::uint32_t bytes = format.bytes();
  const std::uint32_t lead = access.offset[static_cast<unsigned>(std::countr_zero(group))];
  for (std::uint32_t rest = ~group; rest != 0; rest &= rest - 1) {
    access.offset[static_cast<unsigned>(std::countr_zero(rest))] = lead;
  }
  const auto* const offsets = reinterpret_cast<const std::byte*>(access.offset.data());
  const Pattern pattern = launch_.rows().pattern_of_words(offsets, bytes, group);
  const Target target{&memory, memory.space, memory.address, memory.limit()};
  current_.describe(run, load, *target.allocation, target.space, pattern, bytes, group,
                    {0, format.channels});
  current_.report();
}

// Fetches for lanes that read one texel each.
void Textures::fetch_one_texel(RunningFragment& run, const TextureInstr& instr,
                               const Texture& texture, std::uint32_t lanes) {
  static constexpr std::array<std::byte, 16> kNothing{};
  const TexelFormat& format = texture.format;
  const TexelBox& box = texture.levels.front();
  const std::uint32_t bytes = format.bytes();
  const Instr load = load_of(format);
  std::array<const std::byte*, kWarpLanes> texels;
  texels.fill(kNothing.data());
  const TexelRow row = texels_of(run, instr, texture, lanes);
  std::uint32_t group = 0;
  for (std::uint32_t rest = lanes & row.inside; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t offset = offset_of(box, bytes, row.x[lane], row.y[lane], row.layer[lane]);
    if (!box.memory->live || offset + bytes > box.memory->bytes) [[unlikely]] {
      fault(run, load, box, offset, lane);
      continue;
    }
    current_.access.offset[lane] = static_cast<std::uint32_t>(offset);
    texels[lane] = box.memory->data + offset;
    group |= 1u << lane;
  }
  current_.access.undefined = 0;
  if (group != 0) announce(run, format, *box.memory, load, group);
  write_values(run, instr, texture, texels, lanes, lanes & ~row.inside);
}

// Writes the results of lanes that read one texel each.
//   outside: those that read the border
void Textures::write_values(RunningFragment& run, const TextureInstr& instr, const Texture& texture,
                            const std::array<const std::byte*, kWarpLanes>& texels,
                            std::uint32_t lanes, std::uint32_t outside) {
  const TexelFormat& format = texture.format;
  for (std::uint32_t channel = 0; channel < instr.count; ++channel) {
    const Ref& to = instr.values[channel];
    if (to.bank == Bank::none) continue;
    const bool has_channel = channel < format.channels;
    const bool is_real = format.kind == TexelKind::floating;
    const bool is_whole = has_channel && format.bits == 32 && (is_real || !texture.scaled);
    std::byte* const row = row_of(run.banks, to);
    std::uint32_t rest = is_whole ? lanes & ~outside : 0;
    for (; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      std::memcpy(row + lane * sizeof(std::uint32_t),
                  texels[lane] + channel * sizeof(std::uint32_t), sizeof(std::uint32_t));
    }
    const std::uint32_t of_border = has_channel ? border_value(texture, channel) : 0;
    for (rest = is_whole ? outside : lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const bool is_border = (outside >> lane & 1) != 0;
      std::uint32_t value = is_border ? of_border : 0;
      if (has_channel && !is_border) value = channel_of(texels[lane], format, channel);
      if (has_channel && !(is_border && is_real)) value = point_value(texture, channel, value);
      std::memcpy(row + lane * sizeof value, &value, sizeof value);
    }
    UndefinedLanes undefined;
    if (has_channel && current_.access.undefined != 0) {
      undefined = current_.access.undefined_in(channel);
    }
    if (undefined.mask != 0 || run.warp.undefined.any()) {
      run.warp.undefined.set(run.frame, to, {undefined.mask, undefined.origin}, lanes,
                             launch_.program());
    }
  }
}

void Textures::fault(const RunningFragment& run, const Instr& load, const TexelBox& box,
                     std::uint64_t offset, unsigned lane) const {
  const Target target{box.memory->live ? box.memory : nullptr, ptx::Space::global,
                      box.memory->address, box.memory->limit()};
  const std::uint32_t bytes = ptx::bytes_of(load.modifiers.type) * load.modifiers.vector;
  targets_.fault(run, load, target, box.memory->address + offset, lane, bytes);
}

// Reads texel number `use` of the lanes that have one; lanes with texels in the same allocation are
// read together.
void Textures::read_texels(RunningFragment& run, const Texture& texture, std::uint32_t use,
                           std::uint32_t lanes) {
  Fetch& fetch = *fetch_;
  const TexelFormat& format = texture.format;
  const std::uint32_t bytes = format.bytes();
  const Instr load = load_of(format);
  while (lanes != 0) {
    const auto lead = static_cast<unsigned>(std::countr_zero(lanes));
    const std::uint32_t level = fetch.footprint[lead].uses[use].level;
    const TexelBox& box = texture.levels[level];
    std::uint32_t group = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const TexelUse& one = fetch.footprint[lane].uses[use];
      if (one.level != level) continue;
      lanes &= ~(1u << lane);
      const std::uint64_t offset = offset_of(box, bytes, one.x, one.y, one.layer);
      if (!box.memory->live || offset + bytes > box.memory->bytes) {
        fault(run, load, box, offset, lane);
        fetch.texel[lane][use].fill(std::byte{0});
        continue;
      }
      current_.access.offset[lane] = static_cast<std::uint32_t>(offset);
      group |= 1u << lane;
    }
    if (group == 0) continue;
    announce(run, format, *box.memory, load, group);
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      copy_texel(fetch.texel[lane][use], box.memory->data + current_.access.offset[lane], bytes);
    }
    for (std::uint32_t channel = 0; current_.access.undefined != 0 && channel < format.channels;
         ++channel) {
      const UndefinedLanes found = current_.access.undefined_in(channel);
      if (found.mask == 0) continue;
      fetch.undefined[channel].mask |= found.mask;
      fetch.undefined[channel].origin = found.origin;
    }
  }
}

void Textures::fetch_texels(RunningFragment& run, const TextureInstr& instr, const Texture& texture,
                            std::uint32_t lanes) {
  const bool gathers = instr.operation == Operation::gather;
  if (instr.integer_coordinates || (!gathers && reads_one_texel(texture))) {
    return fetch_one_texel(run, instr, texture, lanes);
  }
  if (fetch_ == nullptr) fetch_ = std::make_unique<Fetch>();
  Fetch& fetch = *fetch_;
  fetch.undefined = {};
  std::array<std::uint32_t, 16> users{};  // for each use: the lanes that read memory for it
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    Footprint& footprint = *::new (&fetch.footprint[lane])  // in place: most of it remains unset
                           Footprint(footprint_of_lane(run, instr, texture, lane));
    for (std::uint32_t use = 0; use < footprint.count; ++use) {
      if (!footprint.uses[use].is_border) users[use] |= 1u << lane;
    }
  }
  for (std::uint32_t use = 0; use < users.size(); ++use) {
    if (users[use] != 0) read_texels(run, texture, use, users[use]);
  }
  for (std::uint32_t i = 0; i < instr.count; ++i) {
    const Ref& to = instr.values[i];
    if (to.bank == Bank::none) continue;
    const std::uint32_t channel = gathers ? instr.component : i;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const Footprint& footprint = fetch.footprint[lane];
      std::uint32_t value = 0;
      if (channel < texture.format.channels) {
        std::array<std::uint32_t, 16> texels;
        for (std::uint32_t use = 0; use < footprint.count; ++use) {
          texels[use] = footprint.uses[use].is_border
                            ? border_value(texture, channel)
                            : channel_of(fetch.texel[lane][use].data(), texture.format, channel);
        }
        const std::uint32_t only = gathers ? i : 0;
        const bool filters = texture.smooth && !gathers;
        value = filters || (footprint.count > 1 && !gathers)
                    ? filtered_value(texture, channel, footprint, texels)
                : footprint.uses[only].is_border && texture.format.kind == TexelKind::floating
                    ? texels[only]
                    : point_value(texture, channel, texels[only]);
      }
      std::memcpy(row_of(run.banks, to) + lane * sizeof value, &value, sizeof value);
    }
    const UndefinedLanes undefined =
        channel < texture.format.channels ? fetch.undefined[channel] : UndefinedLanes{};
    if (undefined.mask != 0 || run.warp.undefined.any()) {
      run.warp.undefined.set(run.frame, to, undefined, lanes, launch_.program());
    }
  }
}

// ---- surfaces ----

namespace {

std::string_view name_of(TextureShape shape) {
  switch (shape) {
    case TextureShape::line: return "1D surface";
    case TextureShape::volume: return "3D surface";
    case TextureShape::cube: return "cubemap surface";
    default: return "2D surface";
  }
}

std::string describe(const Surface& surface) {
  const TexelBox& box = surface.box;
  std::string size = fmt::format("{}", box.width);
  if (surface.shape != TextureShape::line) size += fmt::format(" x {}", box.height);
  if (surface.shape == TextureShape::volume) size += fmt::format(" x {}", box.layers);
  std::string text = fmt::format("{} of {} elements of {}", name_of(surface.shape), size,
                                 counted(surface.format.bytes(), "byte"));
  if (surface.layered) text += fmt::format(", {}", counted(box.layers, "layer"));
  return text;
}

struct SurfacePlace {
  std::int64_t x = 0, y = 0, layer = 0;  // x in bytes
  friend bool operator==(const SurfacePlace&, const SurfacePlace&) = default;
};

SurfacePlace nearest_to(const SurfacePlace& place, const Surface& surface, std::uint32_t bytes) {
  const TexelBox& box = surface.box;
  const std::int64_t last = std::int64_t{box.width} * surface.format.bytes() - bytes;
  return {std::clamp<std::int64_t>(place.x, 0, std::max<std::int64_t>(last, 0)),
          std::clamp<std::int64_t>(place.y, 0, box.height - 1),
          std::clamp<std::int64_t>(place.layer, 0, box.layers - 1)};
}

std::string describe(const SurfacePlace& place, const Surface& surface) {
  std::string text = fmt::format("byte {}", place.x);
  if (surface.shape != TextureShape::line) text += fmt::format(" of row {}", place.y);
  if (surface.layered || surface.shape > TextureShape::plane) {
    text += fmt::format(" of layer {}", place.layer);
  }
  return text;
}

std::string objection_to(const SurfacePlace& place, const Surface& surface, std::uint32_t bytes,
                         bool is_aligned) {
  const std::string where = describe(place, surface);
  if (is_aligned) return fmt::format("(1) accesses {}, which is outside", where);
  return fmt::format("(1) accesses {} bytes at {}, which is no multiple of {}", bytes, where,
                     bytes);
}

}  // namespace

// Handles elements outside the surface.  With .trap, the launch ends; with .zero, loads give 0 and
// stores do nothing; with .clamp, the nearest element is used.
Step Textures::access_surface(RunningFragment& run, const TextureInstr& instr,
                              const Surface& surface, std::uint32_t lanes) {
  const std::uint32_t bytes = ptx::bytes_of(instr.type) * instr.count;
  const TexelBox& box = surface.box;
  const auto coordinate = [&](const Ref& ref, unsigned lane) {
    return ref.bank == Bank::none ? 0 : static_cast<std::int32_t>(word_of(run.banks, ref, lane));
  };
  std::uint32_t inside = 0;
  std::array<std::uint64_t, kWarpLanes> offsets{};
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const bool is_volume = instr.geometry == Geometry::volume;
    SurfacePlace at{coordinate(instr.at[0], lane), coordinate(instr.at[1], lane),
                    coordinate(is_volume ? instr.at[2] : instr.layer, lane)};
    if (!is_volume) at.layer = static_cast<std::uint32_t>(at.layer);
    const SurfacePlace nearest = nearest_to(at, surface, bytes);
    const bool is_inside = at == nearest;
    const bool is_aligned = at.x % std::int64_t{bytes} == 0;
    if (!is_aligned || (!is_inside && instr.boundary == TextureInstr::Boundary::trap)) {
      const Trap::Cause cause =
          is_aligned ? Trap::Cause::surface_bounds : Trap::Cause::surface_alignment;
      const std::string why = objection_to(at, surface, bytes, is_aligned);
      return launch_.halt(run, 1u << lane, cause, why, describe(surface));
    }
    if (!is_inside && instr.boundary == TextureInstr::Boundary::zero) continue;
    inside |= 1u << lane;
    offsets[lane] =
        offset_of(box, 1, static_cast<std::uint32_t>(nearest.x),
                  static_cast<std::uint32_t>(nearest.y), static_cast<std::uint32_t>(nearest.layer));
  }
  if ((lanes & ~inside) != 0) zero_values(run, instr, lanes & ~inside);
  if (inside != 0) move_elements(run, instr, surface, offsets, inside);
  return Step::again;
}

// Moves the lanes' elements to or from memory.
void Textures::move_elements(RunningFragment& run, const TextureInstr& instr,
                             const Surface& surface,
                             const std::array<std::uint64_t, kWarpLanes>& offsets,
                             std::uint32_t lanes) {
  const TexelBox& box = surface.box;
  Instr part;
  part.kind = instr.operation == Operation::store ? InstrKind::store : InstrKind::load;
  part.modifiers.type = instr.type;
  part.modifiers.vector = instr.count;
  for (std::size_t i = 0; i < instr.count; ++i) part[MemoryOperand::value + i] = instr.values[i];
  const bool is_live = box.memory->live;
  const Target target{is_live ? box.memory : nullptr, ptx::Space::global, box.memory->address,
                      box.memory->limit()};
  const auto lead = static_cast<unsigned>(std::countr_zero(lanes));
  if (!is_live) {
    const std::uint32_t bytes = ptx::bytes_of(instr.type) * instr.count;
    targets_.fault(run, part, target, box.memory->address + offsets[lead], lead, bytes);
    return zero_values(run, instr, lanes);
  }
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const bool is_active = (lanes >> lane & 1) != 0;
    current_.access.offset[lane] = static_cast<std::uint32_t>(offsets[is_active ? lane : lead]);
  }
  accesses_.perform(run, part, target, {true, false, false}, lanes);
}

}  // namespace warpcheck::vgpu
