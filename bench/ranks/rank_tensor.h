// Two ranks at the NRT face that are two cores of one process, so that one thread can drive both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/nrt/face.h"

namespace millrace::bench {

inline constexpr uint32_t kFaceRanks = 2;

// Returns `variables` and those that a process needs to be both ranks.
Face::Variables with_two_ranks(Face::Variables variables);
// Lets both ranks meet. Requirement: a runtime with these variables is initialised.
void join_both_ranks();

// A FLOAT32 tensor of one rank, and all-reduces of it in place.
class RankTensor {
 public:
  RankTensor(uint32_t rank, size_t bytes);
  ~RankTensor() { nrt_tensor_free(&tensor_); }
  RankTensor(const RankTensor&) = delete;
  RankTensor& operator=(const RankTensor&) = delete;

  nrt_cc_context_t* prepare();
  static nrta_seq_t schedule(nrt_cc_context_t* context, NRT_STATUS* ret);
  nrta_seq_t all_reduce(NRT_STATUS* ret) { return schedule(prepare(), ret); }

 private:
  const uint32_t rank_;
  nrt_tensor_t* tensor_ = nullptr;
};

// Sleeps until the request has completed.
void await(nrta_seq_t sequence);

}  // namespace millrace::bench
