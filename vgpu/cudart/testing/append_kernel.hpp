// A kernel that records in which order operations ran, for tests of streams and graphs.
#pragma once

namespace warpcheck::cudart {

// append: *cell = *cell * 10 + digit, by one thread.
inline constexpr const char* kAppendPtx = R"(
.version 9.0
.target sm_75
.address_size 64

.visible .entry append(.param .u64 cell, .param .u32 digit)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<2>;

	ld.param.u64 %rd1, [cell];
	ld.param.u32 %r1, [digit];
	ld.global.u32 %r2, [%rd1];
	mul.lo.u32 %r3, %r2, 10;
	add.u32 %r4, %r3, %r1;
	st.global.u32 [%rd1], %r4;
	ret;
}
)";

}  // namespace warpcheck::cudart
