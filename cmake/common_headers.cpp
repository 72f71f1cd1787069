// Empty: only its precompiled headers matter (warpcheck_unoptimized).
