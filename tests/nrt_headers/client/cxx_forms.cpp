// Forms of calls that only C++ programs write.
#include <nrt/nrt_async.h>

#include <functional>

template <typename Call, typename... Arguments>
NRT_STATUS until_accepted(Call call, Arguments... arguments) {
  NRT_STATUS status = NRT_QUEUE_FULL;
  while (status == NRT_QUEUE_FULL) status = call(arguments...);
  return status;
}

NRT_STATUS forms(nrt_model_t* model, nrt_tensor_t* tensor, nrt_tensor_set_t* set,
                 nrta_error_tracker_t* tracker);
NRT_STATUS forms(nrt_model_t* model, nrt_tensor_t* tensor, nrt_tensor_set_t* set,
                 nrta_error_tracker_t* tracker) {
  NRT_STATUS ret = NRT_SUCCESS;
  nrta_seq_t seq = 0;
  char buf[4] = {};
  const NRT_STATUS results[] = {
      nrta_tensor_write(tensor, buf, 0, sizeof buf, 0, nullptr, &seq),
      nrta_tensor_write(tensor, buf, 0, sizeof buf, 0, 0, nullptr, nullptr),
      nrta_execute_schedule(model, set, set, 0, nullptr, &seq),
      ::nrta_tensor_read(buf, tensor, 0, sizeof buf, 0, &ret, &seq),
      ::nrta_execute_schedule(model, set, set, 0, &ret, &seq),
      ::nrta_get_sequence(0, NRTA_XU_COMPUTE, &seq),
      until_accepted(nrta_execute_schedule, model, set, set, 0, &ret, &seq),
      until_accepted([&] { return nrta_execute_schedule(model, set, set, 0, tracker, &seq); }),
  };
  const std::function<NRT_STATUS(uint32_t, nrta_xu_t, int, nrta_seq_t*)> last = nrta_get_sequence;
  return results[0] == NRT_SUCCESS ? last(0, NRTA_XU_COMPUTE, 0, &seq) : results[0];
}
