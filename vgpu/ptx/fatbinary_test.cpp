// The fixtures are made by nvcc: the same two kernels with --compress-mode=none, size and speed.
#include "vgpu/ptx/fatbinary.hpp"

#include <gtest/gtest.h>
#include <lz4.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::ptx {
namespace {

using Bytes = std::vector<std::byte>;

Bytes read_fixture(const std::string& name) {
  std::ifstream in(WARPCHECK_SOURCE_DIR "/vgpu/ptx/testdata/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

template <class T>
void put(Bytes& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

struct EntryFields {
  std::uint16_t kind = 1;
  std::uint32_t sm = 75;
  std::uint64_t flags = 0;
  std::uint64_t raw_bytes = 0;
};

Bytes fatbinary_of(const EntryFields& fields, std::string_view payload) {
  Bytes bytes(16 + 64 + payload.size());
  put(bytes, 0, std::uint32_t{0xBA55ED50});
  put(bytes, 4, std::uint16_t{1});
  put(bytes, 6, std::uint16_t{16});
  put(bytes, 8, std::uint64_t{bytes.size() - 16});
  put(bytes, 16, fields.kind);
  put(bytes, 20, std::uint32_t{64});
  put(bytes, 24, std::uint64_t{payload.size()});
  put(bytes, 32, static_cast<std::uint32_t>(payload.size()));
  put(bytes, 44, fields.sm);
  put(bytes, 56, fields.flags);
  put(bytes, 72, fields.raw_bytes);
  std::memcpy(bytes.data() + 80, payload.data(), payload.size());
  return bytes;
}

std::string error_of(const Bytes& bytes) {
  try {
    read_fatbinary(bytes);
  } catch (const FatbinaryError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Fatbinary, EveryCompressionOfNvccGivesTheSameText) {
  const std::vector<PtxImage> stored = read_fatbinary(read_fixture("stored.fatbin"));
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(stored[0].sm, 75u);
  EXPECT_NE(stored[0].text.back(), '\0');
  const Module module = parse(stored[0].text, "stored");
  EXPECT_NE(module.find_function("_Z1kPi"), nullptr);
  EXPECT_NE(module.find_function("_Z2k2Pf"), nullptr);
  for (const char* name : {"lz4.fatbin", "zstd.fatbin"}) {
    const std::vector<PtxImage> images = read_fatbinary(read_fixture(name));
    ASSERT_EQ(images.size(), 1u) << name;
    EXPECT_EQ(images[0].text, stored[0].text) << name;
    EXPECT_EQ(images[0].sm, 75u) << name;
  }
}

TEST(Fatbinary, ItsHeaderTellsItsSize) {
  for (const char* name : {"stored.fatbin", "lz4.fatbin", "zstd.fatbin"}) {
    const Bytes bytes = read_fixture(name);
    const std::span header = std::span(bytes).first<kFatbinaryHeaderBytes>();
    EXPECT_EQ(fatbinary_bytes(header), bytes.size()) << name;
  }
}

TEST(Fatbinary, ItsNewestTargetIsKnownWithoutItsTexts) {
  const auto two = [](const EntryFields& first, const EntryFields& second) {
    Bytes bytes = fatbinary_of(first, "abcdefgh");
    const Bytes more = fatbinary_of(second, "abcdefgh");
    bytes.insert(bytes.end(), more.begin() + 16, more.end());
    put(bytes, 8, std::uint64_t{bytes.size() - 16});
    return newest_ptx_target(bytes);
  };
  EXPECT_EQ(newest_ptx_target(read_fixture("zstd.fatbin")), 75u);
  EXPECT_EQ(two({.sm = 90}, {.sm = 75}), 90u);
  EXPECT_EQ(two({.sm = 80}, {.kind = 2, .sm = 90}), 80u);        // machine code does not count
  EXPECT_EQ(two({.sm = 80}, {.sm = 86, .flags = 0x2000}), 86u);  // not an LZ4 block
  EXPECT_EQ(two({.kind = 2, .sm = 80}, {.kind = 2, .sm = 90}), 0u);
  EXPECT_THROW(newest_ptx_target(Bytes(15)), FatbinaryError);
}

std::string text_for(std::string_view target) {
  return ".version 9.0\n.target " + std::string(target) + "\n.address_size 64\n";
}

TEST(Fatbinary, TheTargetOfATextNamesItsFeatures) {
  const auto features = [](std::string_view target) {
    return read_fatbinary(fatbinary_of({.sm = 90}, text_for(target))).at(0).features;
  };
  EXPECT_EQ(features("sm_90"), '\0');
  EXPECT_EQ(features("sm_90a"), 'a');
  EXPECT_EQ(features("sm_100f"), 'f');
  EXPECT_EQ(features("sm_90a, debug"), 'a');
  EXPECT_EQ(features("sm_90, texmode_independent, debug"), '\0');
  EXPECT_EQ(read_fatbinary(fatbinary_of({}, "\n.target")).at(0).features, '\0');
  EXPECT_EQ(read_fatbinary(fatbinary_of({}, "\n.target ")).at(0).features, '\0');
}

TEST(Fatbinary, ADeviceRunsTheTextWithTheMostFeaturesThatItHas) {
  const PtxImage v75{"75", 75}, v90{"90", 90}, v90a{"90a", 90, 'a'}, v100{"100", 100};
  const PtxImage v100a{"100a", 100, 'a'}, v100f{"100f", 100, 'f'}, v103{"103", 103};
  const PtxImage v103a{"103a", 103, 'a'}, v103f{"103f", 103, 'f'}, v101f{"101f", 101, 'f'};
  const PtxImage v120f{"120f", 120, 'f'};
  const auto chosen = [](const std::vector<PtxImage>& images, unsigned device) {
    return image_for(images, device).text;
  };
  EXPECT_EQ(chosen({v90, v90a}, 90), "90a");
  EXPECT_EQ(chosen({v90a, v90}, 90), "90a");
  EXPECT_EQ(chosen({v90a, v90}, 100), "90");
  EXPECT_EQ(chosen({v75, v90a}, 100), "75");
  EXPECT_EQ(chosen({v75, v90, v90a}, 80), "75");
  EXPECT_EQ(chosen({v100, v100f, v100a}, 100), "100a");
  EXPECT_EQ(chosen({v100, v100f, v100a}, 103), "100f");
  EXPECT_EQ(chosen({v100, v100f, v100a}, 120), "100");
  EXPECT_EQ(chosen({v90, v103f}, 100), "90");  // later in the family only
  EXPECT_EQ(chosen({v100f, v103, v103f}, 103), "103f");
  EXPECT_EQ(chosen({v100f, v103}, 103), "103");  // the newest architecture first
  EXPECT_EQ(chosen({v90, v101f}, 110), "101f");  // sm_101 is sm_110
  EXPECT_EQ(chosen({v90, v100f, v103a}, 110), "90");
  EXPECT_EQ(chosen({v90, v120f}, 121), "120f");
  EXPECT_EQ(chosen({v100a, v90a, v90}, 75), "90a");  // it can run none: of the oldest
}

TEST(Fatbinary, EveryTruncationIsAnError) {
  for (const char* name : {"stored.fatbin", "lz4.fatbin", "zstd.fatbin"}) {
    const Bytes whole = read_fixture(name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_THROW(read_fatbinary(cut), FatbinaryError) << name << " cut to " << size;
      if (size < kFatbinaryHeaderBytes) continue;
      Bytes relabelled = cut;  // the header agrees with the shortened data
      put(relabelled, 8, std::uint64_t{size - 16});
      EXPECT_THROW(read_fatbinary(relabelled), FatbinaryError) << name << " cut to " << size;
    }
  }
}

// Any outcome except a crash is accepted; the sanitizers detect errors.
TEST(Fatbinary, EveryDamagedByteIsSurvived) {
  for (const char* name : {"stored.fatbin", "lz4.fatbin", "zstd.fatbin"}) {
    const Bytes whole = read_fixture(name);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const unsigned flip : {0x01u, 0x80u, 0xFFu}) {
        Bytes damaged = whole;
        damaged[at] ^= static_cast<std::byte>(flip);
        try {
          read_fatbinary(damaged);
        } catch (const FatbinaryError&) {
        }
      }
    }
  }
}

TEST(Fatbinary, ErrorsSayWhatAndWhere) {
  EXPECT_EQ(error_of({}), "fatbinary: truncated header: 0 bytes, expected 16");
  Bytes bytes = fatbinary_of({}, "text");
  EXPECT_EQ(read_fatbinary(bytes).at(0).text, "text");
  Bytes bad = bytes;
  put(bad, 0, std::uint32_t{0x464c457f});
  EXPECT_EQ(error_of(bad), "fatbinary: magic is 0x464c457f, expected 0xba55ed50");
  bad = bytes;
  put(bad, 4, std::uint16_t{7});
  EXPECT_EQ(error_of(bad), "fatbinary: version is 7, expected 1");
  bad = bytes;
  put(bad, 6, std::uint16_t{8});
  EXPECT_EQ(error_of(bad), "fatbinary: header has 8 bytes, expected 16");
  bad = bytes;
  put(bad, 8, std::uint64_t{1000});
  EXPECT_EQ(error_of(bad), "fatbinary: truncated: 84 bytes, its header says 1016");
  bad = bytes;
  put(bad, 20, std::uint32_t{63});
  EXPECT_EQ(error_of(bad),
            "fatbinary: entry at offset 16 has a header of 63 bytes, expected 64 to 68");
  bad = bytes;
  put(bad, 24, std::uint64_t{5});
  EXPECT_EQ(error_of(bad), "fatbinary: truncated entry at offset 16: 5 bytes stored, 4 are left");
}

TEST(Fatbinary, MachineCodeAloneIsRefusedByName) {
  EXPECT_EQ(error_of(fatbinary_of({.kind = 2, .sm = 90},
                                  "\x7f"
                                  "ELF")),
            "fatbinary: machine code only (sm_90), no PTX: compile with "
            "-gencode arch=compute_NN,code=compute_NN");
  Bytes empty = fatbinary_of({}, "");
  empty.resize(16);
  put(empty, 8, std::uint64_t{0});
  EXPECT_EQ(error_of(empty),
            "fatbinary: no PTX in it: compile with PTX, e.g. nvcc -arch=compute_75");
}

TEST(Fatbinary, SizesThatThePayloadCannotHoldAreRefused) {
  const std::string text(100'000, 'x');
  std::string packed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))), 0);
  packed.resize(static_cast<std::size_t>(LZ4_compress_default(
      text.data(), packed.data(), static_cast<int>(text.size()), static_cast<int>(packed.size()))));
  const std::uint64_t lz4 = 0x2000;
  const std::uint64_t zstd = 0x8000;
  EXPECT_EQ(
      read_fatbinary(fatbinary_of({.flags = lz4, .raw_bytes = text.size()}, packed)).at(0).text,
      text);
  EXPECT_EQ(error_of(fatbinary_of({.flags = lz4, .raw_bytes = text.size() + 1}, packed)),
            "fatbinary: entry at offset 16: 100000 bytes decompressed, expected 100001");
  EXPECT_EQ(error_of(fatbinary_of({.flags = lz4, .raw_bytes = text.size() - 1}, packed)),
            "fatbinary: entry at offset 16: damaged LZ4 block");
  EXPECT_EQ(error_of(fatbinary_of({.flags = lz4, .raw_bytes = 1 << 27}, "abcd")),
            "fatbinary: entry at offset 16: 4 compressed bytes cannot hold 134217728");
  EXPECT_EQ(error_of(fatbinary_of({.flags = zstd, .raw_bytes = std::uint64_t{1} << 40}, "abcd")),
            "fatbinary: entry at offset 16 claims 1099511627776 bytes, more than 268435456");
  EXPECT_EQ(error_of(fatbinary_of({.flags = zstd, .raw_bytes = 8}, "abcd")),
            "fatbinary: entry at offset 16: damaged Zstandard frame");
}

}  // namespace
}  // namespace warpcheck::ptx
