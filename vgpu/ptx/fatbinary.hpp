// The container that nvcc puts into a host object: PTX and machine code, maybe compressed.
//
// NVIDIA publishes no description; the layout below is what nvcc 13 writes, and every length is
// checked against the bytes.  All numbers are little-endian.
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
  std::string text;  // without the NUL bytes at its end
  unsigned sm = 0;   // 75 for compute_75
};

// One line: what is wrong, and at which offset.
class FatbinaryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t kFatbinaryHeaderBytes = 16;

// Bytes of the whole fatbinary, from its first kFatbinaryHeaderBytes bytes: for the loader, which
// is given a pointer and no size.  Throws FatbinaryError if it is none.
std::size_t fatbinary_bytes(std::span<const std::byte, kFatbinaryHeaderBytes> header);

// Every PTX text in a fatbinary, in its order.  Throws FatbinaryError if the bytes are damaged or
// truncated, or hold no PTX but only machine code.
std::vector<PtxImage> read_fatbinary(std::span<const std::byte> bytes);

// The newest target among the PTX texts, 75 for compute_75; 0: there is none.  Reads no text, and
// throws as read_fatbinary() does where the bytes are damaged.
unsigned newest_ptx_target(std::span<const std::byte> bytes);

}  // namespace warpcheck::ptx
