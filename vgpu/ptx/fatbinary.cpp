#include "vgpu/ptx/fatbinary.hpp"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace warpcheck::ptx {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kEntryHeaderBytesMin = 64;
constexpr std::uint64_t kTextBytesMax = std::uint64_t{1} << 28;

enum Kind : std::uint16_t { kPtx = 1, kMachineCode = 2 };
enum Flags : std::uint64_t { kLz4 = 0x2000, kZstd = 0x8000 };

template <std::unsigned_integral T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Entry {
  std::size_t offset = 0;  // in the fatbinary, for errors
  std::uint16_t kind = 0;
  std::uint32_t sm = 0;
  std::uint64_t flags = 0;
  std::uint64_t raw_bytes = 0;
  std::span<const std::byte> payload;  // as stored
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw FatbinaryError("fatbinary: " + fmt::format(format, std::forward<Args>(args)...));
}

// Reads the entry at an offset, and moves the offset to the next entry.
Entry read_entry(std::span<const std::byte> bytes, std::size_t& offset) {
  const std::span<const std::byte> rest = bytes.subspan(offset);
  if (rest.size() < kEntryHeaderBytesMin) {
    fail("truncated entry at offset {}: {} bytes are left, its header needs {}", offset,
         rest.size(), kEntryHeaderBytesMin);
  }
  Entry entry;
  entry.offset = offset;
  entry.kind = load<std::uint16_t>(rest, 0);
  const auto header_bytes = load<std::uint32_t>(rest, 4);
  const auto stored_bytes = load<std::uint64_t>(rest, 8);
  const auto compressed_bytes = load<std::uint32_t>(rest, 16);
  entry.sm = load<std::uint32_t>(rest, 28);
  entry.flags = load<std::uint64_t>(rest, 40);
  entry.raw_bytes = load<std::uint64_t>(rest, 56);
  if (header_bytes < kEntryHeaderBytesMin || header_bytes > rest.size()) {
    fail("entry at offset {} has a header of {} bytes, expected {} to {}", offset, header_bytes,
         kEntryHeaderBytesMin, rest.size());
  }
  if (stored_bytes > rest.size() - header_bytes) {
    fail("truncated entry at offset {}: {} bytes stored, {} are left", offset, stored_bytes,
         rest.size() - header_bytes);
  }
  entry.payload = rest.subspan(header_bytes, stored_bytes);
  if ((entry.flags & (kLz4 | kZstd)) != 0) {
    if (compressed_bytes > stored_bytes) {
      fail("entry at offset {} has {} compressed bytes, but {} stored", offset, compressed_bytes,
           stored_bytes);
    }
    entry.payload = entry.payload.first(compressed_bytes);
  }
  offset += header_bytes + stored_bytes;
  return entry;
}

const char* chars(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

// Allocates no more than the compressed bytes can produce: LZ4 expands a byte to at most 255.
std::string decompress_lz4(const Entry& entry) {
  if (entry.raw_bytes / 255 > entry.payload.size() + 64) {
    fail("entry at offset {}: {} compressed bytes cannot hold {}", entry.offset,
         entry.payload.size(), entry.raw_bytes);
  }
  std::string text(entry.raw_bytes, '\0');
  const int written =
      LZ4_decompress_safe(chars(entry.payload), text.data(), static_cast<int>(entry.payload.size()),
                          static_cast<int>(text.size()));
  if (written < 0) fail("entry at offset {}: damaged LZ4 block", entry.offset);
  if (static_cast<std::size_t>(written) != text.size()) {
    fail("entry at offset {}: {} bytes decompressed, expected {}", entry.offset, written,
         text.size());
  }
  return text;
}

std::string decompress_zstd(const Entry& entry) {
  const unsigned long long size =
      ZSTD_getFrameContentSize(entry.payload.data(), entry.payload.size());
  if (size != ZSTD_CONTENTSIZE_UNKNOWN && size != entry.raw_bytes) {
    fail("entry at offset {}: damaged Zstandard frame", entry.offset);
  }
  std::string text(entry.raw_bytes, '\0');
  const std::size_t written =
      ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
  if (ZSTD_isError(written)) {
    fail("entry at offset {}: damaged Zstandard frame: {}", entry.offset,
         ZSTD_getErrorName(written));
  }
  if (written != text.size()) {
    fail("entry at offset {}: {} bytes decompressed, expected {}", entry.offset, written,
         text.size());
  }
  return text;
}

std::string read_text(const Entry& entry) {
  if (entry.raw_bytes > kTextBytesMax) {
    fail("entry at offset {} claims {} bytes, more than {}", entry.offset, entry.raw_bytes,
         kTextBytesMax);
  }
  std::string text = (entry.flags & kZstd) != 0 ? decompress_zstd(entry)
                     : (entry.flags & kLz4) != 0
                         ? decompress_lz4(entry)
                         : std::string(chars(entry.payload), entry.payload.size());
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

}  // namespace

std::size_t fatbinary_bytes(std::span<const std::byte, kFatbinaryHeaderBytes> header) {
  const auto magic = load<std::uint32_t>(header, 0);
  if (magic != kMagic) fail("magic is {:#010x}, expected {:#010x}", magic, kMagic);
  const auto version = load<std::uint16_t>(header, 4);
  if (version != kVersion) fail("version is {}, expected {}", version, kVersion);
  const auto header_bytes = load<std::uint16_t>(header, 6);
  if (header_bytes < kFatbinaryHeaderBytes) {
    fail("header has {} bytes, expected {}", header_bytes, kFatbinaryHeaderBytes);
  }
  const auto length = load<std::uint64_t>(header, 8);
  if (length > SIZE_MAX - header_bytes) fail("{} bytes of entries are too many", length);
  return header_bytes + length;
}

namespace {

template <class Visit>
void for_each_entry(std::span<const std::byte> bytes, Visit&& visit) {
  if (bytes.size() < kFatbinaryHeaderBytes) {
    fail("truncated header: {} bytes, expected {}", bytes.size(), kFatbinaryHeaderBytes);
  }
  const std::size_t size = fatbinary_bytes(bytes.first<kFatbinaryHeaderBytes>());
  if (size > bytes.size()) fail("truncated: {} bytes, its header says {}", bytes.size(), size);
  for (std::size_t offset = load<std::uint16_t>(bytes, 6); offset < size;) {
    visit(read_entry(bytes.first(size), offset));
  }
}

}  // namespace

namespace {

// Returns the suffix of the architecture in `.target sm_90a`; 0: it has none.
char features_of(std::string_view text) {
  constexpr std::string_view kDirective = "\n.target";
  const std::size_t directive = text.find(kDirective);
  if (directive == std::string_view::npos) return '\0';
  const std::string_view rest = text.substr(directive + kDirective.size());
  const std::size_t begin = rest.find_first_not_of(" \t");
  const std::string_view target =
      rest.substr(std::min(begin, rest.size())).substr(0, rest.find_first_of(",\r\n") - begin);
  const char last = target.empty() ? '\0' : target.back();
  return last == 'a' || last == 'f' ? last : '\0';
}

// sm_101 was renamed to sm_110.
unsigned renamed(unsigned sm) { return sm == 101 ? 110 : sm; }

constexpr unsigned kOldestFamily = 100;  // older architectures have none

int specificity(const PtxImage& image) {
  return image.features == 'a' ? 2 : image.features == 'f' ? 1 : 0;
}

}  // namespace

bool runs_on(const PtxImage& image, unsigned device) {
  const unsigned sm = renamed(image.sm);
  if (image.features == 'a') return sm == device;
  if (image.features == 'f' && (sm < kOldestFamily || sm / 10 != device / 10)) return false;
  return sm <= device;
}

const PtxImage& image_for(std::span<const PtxImage> images, unsigned device) {
  return *std::ranges::max_element(images, [device](const PtxImage& a, const PtxImage& b) {
    const bool a_runs = runs_on(a, device), b_runs = runs_on(b, device);
    if (a_runs != b_runs) return b_runs;
    if (a.sm != b.sm) return a_runs ? a.sm < b.sm : a.sm > b.sm;
    return specificity(a) < specificity(b);
  });
}

std::vector<PtxImage> read_fatbinary(std::span<const std::byte> bytes) {
  std::vector<PtxImage> images;
  std::string machine_code;
  for_each_entry(bytes, [&](const Entry& entry) {
    if (entry.kind == kPtx) {
      PtxImage& image = images.emplace_back(read_text(entry), entry.sm);
      image.features = features_of(image.text);
    } else if (entry.kind == kMachineCode) {
      machine_code += fmt::format("{}sm_{}", machine_code.empty() ? "" : ", ", entry.sm);
    }
  });
  if (!images.empty()) return images;
  if (machine_code.empty()) fail("no PTX in it: compile with PTX, e.g. nvcc -arch=compute_75");
  fail("machine code only ({}), no PTX: compile with -gencode arch=compute_NN,code=compute_NN",
       machine_code);
}

unsigned newest_ptx_target(std::span<const std::byte> bytes) {
  unsigned newest = 0;
  for_each_entry(bytes, [&](const Entry& entry) {
    if (entry.kind == kPtx) newest = std::max<unsigned>(newest, entry.sm);
  });
  return newest;
}

}  // namespace warpcheck::ptx
