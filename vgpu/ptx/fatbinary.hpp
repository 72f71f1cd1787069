// Reads fatbinaries, the containers that nvcc puts into host objects: PTX and machine code,
// possibly compressed.
//
// NVIDIA publishes no description; the layout below is that of nvcc 13, and every length is checked
// against the size of the data.  All numbers are little-endian.
//   header   +0 u32 magic 0xBA55ED50, +4 u16 version 1, +6 u16 header bytes (16),
//            +8 u64 bytes of the entries
//   entry    +0 u16 kind (1 PTX, 2 machine code), +4 u32 header bytes, +8 u64 stored bytes,
//            +16 u32 compressed bytes, +28 u32 sm, +40 u64 flags (0x8000 Zstandard, 0x2000 LZ4
//            block), +56 u64 bytes before compression; the payload follows the entry's header
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpcheck::ptx {

struct PtxImage {
  std::string text;      // without the NUL bytes at its end
  unsigned sm = 0;       // 75 for compute_75
  char features = '\0';  // 'a' for compute_90a, 'f' for compute_100f
};

// Returns whether a device of that compute capability (90 is 9.0) runs the text: one of its own
// architecture if it has suffix `a`, a later one of the same family if it has `f`, and any later
// one without a suffix (PTX ISA 9.0, 11.1.2).
bool runs_on(const PtxImage& image, unsigned device);

// Returns the text that such a device runs: of those that it can run the newest, and among texts
// for one architecture the one with the most features (a, then f); if it can run none, that of the
// oldest architecture.  There must be one.
const PtxImage& image_for(std::span<const PtxImage> images, unsigned device);

// what() is one line: the error and its offset.
class FatbinaryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t kFatbinaryHeaderBytes = 16;

// Returns the size of the whole fatbinary from its first kFatbinaryHeaderBytes bytes, for the
// loader, which gets a pointer without a size.  Throws FatbinaryError if it is no fatbinary.
std::size_t fatbinary_bytes(std::span<const std::byte, kFatbinaryHeaderBytes> header);

// Returns every PTX text in a fatbinary, in order.  Throws FatbinaryError if the bytes are damaged
// or truncated, or contain only machine code.
std::vector<PtxImage> read_fatbinary(std::span<const std::byte> bytes);

// Returns the newest target among the PTX texts, 75 for compute_75; 0: there is no PTX.  Does not
// decompress texts; throws like read_fatbinary() if the bytes are damaged.
unsigned newest_ptx_target(std::span<const std::byte> bytes);

}  // namespace warpcheck::ptx
