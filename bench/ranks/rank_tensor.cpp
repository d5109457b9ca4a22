#include "bench/ranks/rank_tensor.h"

#include <sys/eventfd.h>

#include <stdexcept>
#include <thread>

#include "base/unique_fd.h"
#include "bench/ranks/meeting_place.h"
#include "nrt/nrt_experimental.h"

namespace millrace::bench {

Face::Variables with_two_ranks(Face::Variables variables) {
  variables.emplace_back("MILLRACE_NRT_CORES", "2");
  variables.emplace_back("NEURON_RT_ROOT_COMM_ID", free_meeting_place());
  return variables;
}

void join_both_ranks() {
  std::thread other([] { nrt_cc_global_comm_init(1, 1, kFaceRanks); });
  const NRT_STATUS joined = nrt_cc_global_comm_init(0, 0, kFaceRanks);
  other.join();
  expect_success(joined, "nrt_cc_global_comm_init");
}

RankTensor::RankTensor(uint32_t rank, size_t bytes) : rank_(rank) {
  expect_success(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, static_cast<int>(rank), bytes,
                                     nullptr, &tensor_),
                 "nrt_tensor_allocate");
}

nrt_cc_context_t* RankTensor::prepare() {
  nrt_cc_comm_t both = {nullptr, rank_, kFaceRanks, rank_, kFaceRanks, rank_};
  nrt_tensor_list_t list = {&tensor_, 1};
  nrt_cc_context_t* context = nullptr;
  expect_success(nrta_cc_prepare(&both, &list, &list, NRT_DTYPE_FLOAT32, NRT_OP_ADD,
                                 NRT_CC_ALLREDUCE, &context),
                 "nrta_cc_prepare");
  return context;
}

nrta_seq_t RankTensor::schedule(nrt_cc_context_t* context, NRT_STATUS* ret) {
  nrta_seq_t sequence = 0;
  expect_success(nrta_cc_schedule(&context, 0, ret, &sequence), "nrta_cc_schedule");
  return sequence;
}

void await(nrta_seq_t sequence) {
  const UniqueFd event(eventfd(0, EFD_CLOEXEC));
  expect_success(nrta_event_register_seq_id_completion(sequence, event.get()),
                 "nrta_event_register_seq_id_completion");
  uint64_t times = 0;
  if (eventfd_read(event.get(), &times) != 0) throw std::runtime_error("eventfd_read");
}

}  // namespace millrace::bench
