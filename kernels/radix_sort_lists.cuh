// One thread sorts one of the interleaved lists that an array is made of: list l of `lists` is
// elements l, l + lists, l + 2 * lists, ...  Neighbouring threads then touch neighbouring elements.
#pragma once

#include <cstdint>

// Sorts by bits [first_bit, end_bit) of the records, unsigned integers, and keeps the order of
// records that are equal there: binary least-significant-digit radix sort (Knuth, "The Art of
// Computer Programming", volume 3, 5.2.5).  For each bit the zeros move up within `records`, never
// past the one that is being read, and the ones wait in `ones` until they can follow.
//
// Both arrays have n elements and are touched at the list's own places only, so threads that sort
// different lists need no barrier.
template <class Record>
__device__ void radix_sort_list(Record* records, Record* ones, int n, int list, int lists,
                                int first_bit, int end_bit) {
  for (int bit = first_bit; bit < end_bit; ++bit) {
    int zeros_end = list;
    int ones_end = list;
    for (int i = list; i < n; i += lists) {
      const Record record = records[i];
      if ((record >> bit & 1) == 0) {
        records[zeros_end] = record;
        zeros_end += lists;
      } else {
        ones[ones_end] = record;
        ones_end += lists;
      }
    }
    for (int i = list; i < ones_end; i += lists, zeros_end += lists) records[zeros_end] = ones[i];
  }
}
