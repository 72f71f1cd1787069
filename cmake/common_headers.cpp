// Nothing: what is compiled are the headers (warpcheck_unoptimized).
