// The PTX memory consistency model: the definitions and axioms of chapter 8 of the PTX ISA, one
// function for each sentence, over the events of one execution.
//
// Proxies other than the generic one are not part of that chapter.  Their definitions are those of
// Lustig, Cooksey, Giroux, "Mixed-Proxy Extensions for the NVIDIA PTX Memory Consistency Model",
// ISCA 2022, which define the effect of a proxy fence between two operations.
#pragma once

#include "model/execution.hpp"

namespace warpcheck::model {

// --- definitions --------------------------------------------------------------------------------

// 8.7, 8.8: for a program; used by EventStructure's constructor.
Relation morally_strong(const EventStructure& structure);
// From the first operation of a release pattern to the write that can be observed; from the
// observing read to the last operation of an acquire pattern.
Relation release_patterns(const EventStructure& structure);
Relation acquire_patterns(const EventStructure& structure);

// 8.9.2
Relation observation_order(const EventStructure& structure, const Relation& reads_from);
// 8.9.4, except for fence.sc, whose order is chosen separately.
Relation synchronizes(const EventStructure& structure, const Relation& observation,
                      const Relation& barriers);
// 8.9.5
Relation base_causality_order(const EventStructure& structure, const Relation& synchronizes,
                              const Relation& fence_sc);
Relation proxy_preserved_base_causality_order(const EventStructure& structure,
                                              const Relation& base);
Relation causality_order(const Relation& observation, const Relation& proxy_preserved);
// 8.9.7: a read comes before writes that are later than the one from which it reads.
Relation from_reads(const Relation& reads_from, const Relation& coherence);

// 8.7.1: pairs of operations that are in a data race, each once.
Relation data_races(const EventStructure& structure, const Relation& causality);

// --- axioms -------------------------------------------------------------------------------------

// 8.10.1
bool coherence_holds(const Execution& execution, const Relation& causality);
// 8.10.2, and that base causality order is an order at all.
bool fence_sc_holds(const Relation& base);
// 8.10.3
bool atomicity_holds(const Execution& execution);
// 8.10.4
bool no_thin_air_holds(const EventStructure& structure, const Relation& reads_from);
// 8.10.5
bool sc_per_location_holds(const Execution& execution);
// 8.10.6
bool causality_holds(const Execution& execution, const Relation& causality);

}  // namespace warpcheck::model
