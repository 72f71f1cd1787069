# Draws times.csv of bench/gpu/run: gnuplot -e "times='...'; plot_file='docs/use/fast.svg'" bench/gpu/plot.gp
set terminal svg size 1000,760 background "white" font "sans,12"
set output plot_file
set datafile separator ","
set multiplot layout 2,2
set key left top
set logscale x 2
set format x "2^{%L}"
set grid
set style data linespoints
of(family, contender) = sprintf("< grep '^%s,%s,' %s", family, contender, times)
set ylabel "10^9 elements/s"
set title "inclusive scan of ints"
plot of("scan", "fast") using 3:7 title "fast", of("scan", "CUB") using 3:7 title "CUB", \
  of("scan", "plain") using 3:7 title "plain", of("copy", "cudaMemcpyAsync") using 3:($7/8) title "copy"
set title "radix sort of 32-bit keys"
plot of("sort", "fast") using 3:7 title "fast", of("sort", "CUB") using 3:7 title "CUB"
set ylabel "GB/s read"
set title "sum of ints"
plot of("sum", "fast") using 3:7 title "fast", of("sum", "CUB") using 3:7 title "CUB", \
  of("sum", "plain") using 3:7 title "plain", of("copy", "cudaMemcpyAsync") using 3:7 title "copy, read and written"
set title "histogram of bytes"
plot of("histogram", "fast") using 3:7 title "fast", of("histogram", "CUB") using 3:7 title "CUB", \
  of("histogram", "plain") using 3:7 title "plain"
unset multiplot
