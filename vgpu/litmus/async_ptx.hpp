// PTX for litmus programs of compute_90, as macros: a finding names the line where one stands.
#pragma once

#define ADDRESS_OF(shared) static_cast<unsigned>(__cvta_generic_to_shared(shared))

// mbarrier
#define INIT_OBJECT(object, count)                                                        \
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ADDRESS_OF(object)), "r"(count) \
               : "memory")
#define ARRIVE(form, object)                                                                   \
  asm volatile("{.reg .b64 s; mbarrier.arrive" form ".b64 s, [%0];}" ::"r"(ADDRESS_OF(object)) \
               : "memory")
#define EXPECT(object, bytes)                                                            \
  asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1;}" ::"r"( \
                   ADDRESS_OF(object)),                                                  \
               "r"(bytes)                                                                \
               : "memory")
#define WAIT(form, object, parity)                            \
  for (int done = 0; done == 0;)                              \
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity" form \
               ".b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"     \
               : "=r"(done)                                   \
               : "r"(ADDRESS_OF(object)), "r"(parity)         \
               : "memory")

// Clusters.  MAPPED: the address of `shared` in the block of that rank.
#define MAPPED(result, shared, rank)                  \
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" \
               : "=r"(result)                         \
               : "r"(ADDRESS_OF(shared)), "r"(rank))
#define CLUSTER_RANK(result) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(result))
#define DO(text) asm volatile(text ::: "memory")
#define LOAD_REMOTE(form, value, address) \
  asm volatile("ld" form ".shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory")
#define STORE_REMOTE(form, address, value) \
  asm volatile("st" form ".shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory")
#define ADD_REMOTE(form, address, value)                                                  \
  asm volatile("red" form ".shared::cluster.add.u32 [%0], %1;" ::"r"(address), "r"(value) \
               : "memory")

// Bulk copies
#define COPY_IN(shared, global, bytes, object)                                                     \
  asm volatile(                                                                                    \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: \
          "r"(ADDRESS_OF(shared)),                                                                 \
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(ADDRESS_OF(object))                   \
      : "memory")
#define COPY_OUT(global, shared, bytes)                                             \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"( \
                   __cvta_generic_to_global(global)),                               \
               "r"(ADDRESS_OF(shared)), "r"(bytes)                                  \
               : "memory")
#define COPY_ACROSS(address, shared, bytes, object)                                             \
  asm volatile(                                                                                 \
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, " \
      "[%3];" ::"r"(address),                                                                   \
      "r"(ADDRESS_OF(shared)), "r"(bytes), "r"(object)                                          \
      : "memory")
