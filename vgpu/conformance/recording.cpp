#include "vgpu/conformance/recording.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>
#include <zstd.h>

#include "vgpu/conformance/kernel_text.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck::conformance {
namespace {

constexpr int kLevel = 19;
constexpr int kWindowBits = 27;
constexpr std::size_t kNoBase = SIZE_MAX;

std::vector<unsigned> widths_of(const ptx::InstructionForm& form) {
  std::vector<unsigned> widths;
  for (const std::string& type : form.results) widths.push_back(result_bytes(type));
  return widths;
}

std::string planes_of(const Recorded& recorded, const std::vector<unsigned>& widths) {
  std::string bytes;
  for (std::size_t r = 0; r < widths.size(); ++r) {
    for (unsigned byte = 0; byte < widths[r]; ++byte) {
      for (std::uint32_t i = 0; i < recorded.count; ++i) {
        bytes += static_cast<char>(recorded.values[r * recorded.count + i] >> (8 * byte));
      }
    }
  }
  return bytes;
}

void read_planes(const std::string& bytes, const std::vector<unsigned>& widths,
                 Recorded& recorded) {
  recorded.values.assign(widths.size() * recorded.count, 0);
  std::size_t at = 0;
  for (std::size_t r = 0; r < widths.size(); ++r) {
    for (unsigned byte = 0; byte < widths[r]; ++byte) {
      for (std::uint32_t i = 0; i < recorded.count; ++i) {
        const auto value = static_cast<unsigned char>(bytes[at++]);
        recorded.values[r * recorded.count + i] |= std::uint64_t{value} << (8 * byte);
      }
    }
  }
}

void apply_base(std::string& bytes, const std::string& base) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(bytes[i] ^ base[i]);
}

// The index of the earlier form whose bytes differ least; kNoBase if more than half of the bytes
// differ in all forms.
std::size_t nearest_base(const std::vector<std::string>& all, const std::string& bytes) {
  std::size_t best = kNoBase;
  std::size_t least = bytes.size() / 2;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at].size() != bytes.size()) continue;
    std::size_t different = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) different += bytes[i] != all[at][i] ? 1 : 0;
    if (different < least) {
      least = different;
      best = at;
    }
  }
  return best;
}

std::string compress(const std::string& raw) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, kWindowBits);
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  const std::size_t size = ZSTD_compress2(context, out.data(), out.size(), raw.data(), raw.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size) != 0) throw RecordingError(ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

std::string decompress(const std::string& bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > (1u << 30)) {
    throw RecordingError("a recording is one zstd frame of known size; this file is none");
  }
  std::string raw(size, '\0');
  ZSTD_DCtx* const context = ZSTD_createDCtx();
  ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, kWindowBits);
  const std::size_t got =
      ZSTD_decompressDCtx(context, raw.data(), raw.size(), bytes.data(), bytes.size());
  ZSTD_freeDCtx(context);
  if (ZSTD_isError(got) != 0) throw RecordingError(ZSTD_getErrorName(got));
  return raw;
}

using FormsByText = std::unordered_map<std::string_view, const ptx::InstructionForm*>;

FormsByText by_text(const std::vector<ptx::InstructionForm>& known) {
  FormsByText map;
  for (const ptx::InstructionForm& form : known) map.emplace(form.text, &form);
  return map;
}

}  // namespace

std::string pack(const Recording& recording, const std::vector<ptx::InstructionForm>& known) {
  const FormsByText forms = by_text(known);
  std::string head = recording.device + "\n";
  std::string body;
  std::vector<std::string> all;
  for (const Recorded& recorded : recording.forms) {
    std::string bytes = planes_of(recorded, widths_of(*forms.at(recorded.text)));
    const std::size_t base = nearest_base(all, bytes);
    head += fmt::format("{} {} {}\n", recorded.count, base == kNoBase ? "-" : std::to_string(base),
                        recorded.text);
    all.push_back(bytes);
    if (base != kNoBase) apply_base(bytes, all[base]);
    body += bytes;
  }
  return compress(head + "\n" + body);
}

Recording unpack(const std::string& file, const std::vector<ptx::InstructionForm>& known) {
  const FormsByText forms = by_text(known);
  const std::string raw = decompress(file);
  const std::size_t head = raw.find("\n\n");
  if (head == std::string::npos) throw RecordingError("the recording has no end of its head");
  std::istringstream lines(raw.substr(0, head + 1));
  Recording recording;
  std::getline(lines, recording.device);
  std::size_t at = head + 2;
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Recorded recorded;
    std::string base;
    words >> recorded.count >> base;
    std::getline(words >> std::ws, recorded.text);
    const auto form = forms.find(recorded.text);
    if (form == forms.end()) {
      throw RecordingError(
          fmt::format("'{}' was recorded and is not in forms.def: record again", recorded.text));
    }
    const std::vector<unsigned> widths = widths_of(*form->second);
    std::size_t size = 0;
    for (const unsigned width : widths) size += std::size_t{width} * recorded.count;
    if (size > raw.size() - at) throw RecordingError("the recording ends too early");
    std::string bytes = raw.substr(at, size);
    at += size;
    if (base != "-") apply_base(bytes, all.at(std::stoul(base)));
    read_planes(bytes, widths, recorded);
    all.push_back(std::move(bytes));
    recording.forms.push_back(std::move(recorded));
  }
  if (at != raw.size()) throw RecordingError("the recording is longer than its head says");
  return recording;
}

std::string read_file(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw RecordingError(fmt::format("cannot read '{}'", path.string()));
  }
  return text_of_file(path);
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out) throw RecordingError(fmt::format("cannot write '{}'", path.string()));
}

}  // namespace warpcheck::conformance
