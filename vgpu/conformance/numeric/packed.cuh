// Parts of words: what the kernels of packed.def call.
#pragma once

#include "vgpu/conformance/numeric/integers.cuh"

namespace {

struct Color {
  u32 red : 5, green : 6, blue : 5;
  s32 depth : 16;
};

__device__ u32 color_of(u32 x, u32 y) {
  Color color;
  color.red = x;
  color.green = x >> 7;
  color.blue = y;
  color.depth = s32(y) >> 3;
  ++color.green;
  color.depth = color.depth * 3 + s32(color.red);
  return color.red * 7 + color.green * 5 + color.blue * 3 + u32(color.depth);
}
__device__ u32 bytes_sorted(u32 x) {
  u8 b[4] = {u8(x), u8(x >> 8), u8(x >> 16), u8(x >> 24)};
  for (int i = 1; i < 4; ++i) {
    for (int j = i; j > 0 && b[j - 1] > b[j]; --j) {
      const u8 old = b[j];
      b[j] = b[j - 1];
      b[j - 1] = old;
    }
  }
  return b[0] | u32{b[1]} << 8 | u32{b[2]} << 16 | u32{b[3]} << 24;
}
__device__ s32 bytes_product(u32 x, u32 y) {
  s32 sum = 0;
  for (int i = 0; i < 32; i += 8) sum += s32{s8(x >> i)} * s32{s8(y >> i)};
  return sum;
}
__device__ u32 bytes_saturated(u32 x, u32 y) {
  u32 word = 0;
  for (int i = 0; i < 32; i += 8) {
    const s32 sum = s32{u8(x >> i)} + s32{s8(y >> i)};
    word |= u32(sum < 0 ? 0 : sum > 255 ? 255 : sum) << i;
  }
  return word;
}
__device__ u32 shorts_multiplied(u32 x, u32 y) {
  const s16 a = s16(x), b = s16(x >> 16), c = s16(y), d = s16(y >> 16);
  return u32(u16((s32{a} * c) >> 15)) | u32(u16((s32{b} * d + 0x4000) >> 15)) << 16;
}
__device__ u32 decimal_sum(u32 x, u32 y) {  // eight decimal digits each
  u32 carry = 0, sum = 0;
  for (int i = 0; i < 32; i += 4) {
    const u32 digit = (x >> i & 15) % 10 + (y >> i & 15) % 10 + carry;
    carry = digit / 10;
    sum |= digit % 10 << i;
  }
  return sum;
}
__device__ u32 code_point(u32 x) {  // of up to four bytes of UTF-8
  const u8 first = u8(x);
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  u32 code = more == 0 ? first : first & (0x3fu >> more);
  for (int i = 1; i <= more; ++i) {
    const u8 next = u8(x >> (8 * i));
    if ((next & 0xc0) != 0x80) return 0xfffd;
    code = code << 6 | (next & 0x3f);
  }
  return code;
}
__device__ u32 gray_of(u32 x) {
  const u8 r = u8(x), g = u8(x >> 8), b = u8(x >> 16);
  return (77 * r + 150 * g + 29 * b + 128) >> 8;
}
__device__ u64 bytes_counted(u64 x) {  // how often each of eight values occurs
  u64 counts = 0;
  for (int i = 0; i < 64; i += 8) counts += u64(1) << (8 * (x >> i & 7));
  return counts;
}
// Through memory of the thread, byte by byte.
__device__ u64 reshuffled(u64 x, u32 by) {
  u8 bytes[8];
  for (int i = 0; i < 8; ++i) bytes[(i * 3 + by) % 8] = u8(x >> (8 * i));
  u64 result = 0;
  for (int i = 7; i >= 0; --i) result = result << 8 | bytes[i];
  return result;
}
__device__ u32 simd_pairs(u32 x, u32 y) {
  u32 sum = __vadd2(x, y) ^ __vsub2(x, y);
  sum += __vmaxs2(x, y) ^ __vminu2(x, y);
  sum += __vabsdiffs2(x, y) + __vavgu2(x, y);
  sum ^= __vaddss2(x, y) + __vsubus2(x, y);
  return sum + (__vcmpgts2(x, y) & __vcmpleu2(x, y)) + __vsetlts2(x, y) + __vsads2(x, y);
}
__device__ u32 simd_bytes(u32 x, u32 y) {
  u32 sum = __vadd4(x, y) ^ __vsub4(x, y);
  sum += __vmaxs4(x, y) ^ __vminu4(x, y);
  sum += __vabsdiffu4(x, y) + __vavgs4(x, y);
  sum ^= __vaddus4(x, y) + __vsubss4(x, y);
  return sum + (__vcmpgtu4(x, y) & __vcmples4(x, y)) + __vsetltu4(x, y) + __vsadu4(x, y);
}

}  // namespace
