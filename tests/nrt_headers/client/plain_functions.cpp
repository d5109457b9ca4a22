// C++ programs use the functions whose names are macros in all ways in which they use plain ones.
#include <dlfcn.h>
#include <nrt/nrt_async.h>

#include <functional>
#include <thread>
#include <type_traits>

template <typename To, typename From>
To as(From from) {
  return static_cast<To>(from);
}

// Types of functions, and functions that a program finds with dlsym.
using Write = NRT_STATUS (*)(nrt_tensor_t*, const void*, uint64_t, uint64_t, int, int, NRT_STATUS*,
                             nrta_seq_t*);
static_assert(std::is_same<decltype(&nrta_tensor_write), Write>::value, "nrt_async.h's own form");
static_assert(std::is_same<decltype(&::nrta_tensor_write), Write>::value, "nrt_async.h's own form");

struct Library {
  decltype(&::nrta_tensor_write) write = nullptr;
  decltype(::nrta_tensor_read)* read = nullptr;
  decltype(&::nrta_tensor_copy) nrta_tensor_copy = nullptr;
  decltype(&::nrta_execute_schedule) nrta_execute_schedule = nullptr;
  decltype(&::nrta_cc_schedule) nrta_cc_schedule = nullptr;
  decltype(&::nrta_get_sequence) nrta_get_sequence = nullptr;
  decltype(&::nrt_tensor_write_batch) nrt_tensor_write_batch = nullptr;

  explicit Library(void* handle) {
#define FIND(member, function) \
  member = reinterpret_cast<decltype(&::function)>(dlsym(handle, #function))
    FIND(write, nrta_tensor_write);
    FIND(read, nrta_tensor_read);
    FIND(nrta_tensor_copy, nrta_tensor_copy);
    FIND(nrta_execute_schedule, nrta_execute_schedule);
    FIND(nrta_cc_schedule, nrta_cc_schedule);
    FIND(nrta_get_sequence, nrta_get_sequence);
    FIND(nrt_tensor_write_batch, nrt_tensor_write_batch);
  }
};

// Functions as arguments, of the program's templates and of the standard library's.
template <typename Function, typename... Arguments>
NRT_STATUS apply(Function&& function, Arguments... arguments) {
  return function(arguments...);
}

template <typename... Arguments>
NRT_STATUS write_with(Arguments... arguments) {
  return nrta_tensor_write(arguments...);
}

template <Write kWrite>
NRT_STATUS write_by(nrt_tensor_t* tensor, const void* buf) {
  return kWrite(tensor, buf, 0, 4, 0, 0, nullptr, nullptr);
}

#define TRY(call) \
  if (const NRT_STATUS status = call) return status
#define RUN(function, ...) TRY(::function(__VA_ARGS__))

namespace program {

using ::nrta_tensor_read;

NRT_STATUS all(const Library& library, nrt_tensor_t* tensor, nrt_model_t* model,
               nrt_tensor_set_t* set, nrt_cc_context_t* context);
NRT_STATUS all(const Library& library, nrt_tensor_t* tensor, nrt_model_t* model,
               nrt_tensor_set_t* set, nrt_cc_context_t* context) {
  NRT_STATUS ret = NRT_SUCCESS;
  nrta_seq_t seq = 0;
  char buf[4] = {};
  nrt_tensor_batch_t batch{tensor, nullptr, 0};

  TRY(library.write(tensor, as<const void*, char*>(buf), 0, 4, 0, 0, &ret, &seq));
  TRY(library.nrta_tensor_copy(tensor, 0, tensor, 0, as<uint64_t, int>(4), 0, 0, &ret, &seq));
  TRY(library.nrta_execute_schedule(as<nrt_model_t*, nrt_model_t*>(model), set, set, 0, &ret,
                                    &seq));
  TRY(library.nrta_cc_schedule(&context, as<int, int>(0), &ret, &seq));
  TRY(library.nrta_get_sequence(as<uint32_t, int>(0), NRTA_XU_COMPUTE, 0, &seq));
  TRY(library.nrt_tensor_write_batch(&batch, 1));

  TRY((nrta_tensor_write)(tensor, buf, 0, 4, 0, 0, &ret, &seq));
  TRY((&nrta_get_sequence)(0, NRTA_XU_COMPUTE, 0, &seq));
  TRY((::nrt_tensor_read_batch)(&batch, 1));
  RUN(nrta_tensor_write, tensor, as<const void*, char*>(buf), 0, 4, 0, 0, &ret, &seq);
  RUN(nrta_get_sequence, as<uint32_t, int>(0), NRTA_XU_COMPUTE, 0, &seq);
  RUN(nrt_tensor_write_batch, as<const nrt_tensor_batch_t*, nrt_tensor_batch_t*>(&batch), 1);
  TRY(program::nrta_tensor_read(as<void*, char*>(buf), tensor, 0, 4, 0, 0, &ret, &seq));
  TRY(nrta_tensor_read(buf, tensor, 0, uint64_t{4}, 0, 0, &ret, &seq));

  TRY(apply(nrta_tensor_write, tensor, buf, 0, 4, 0, 0, &ret, &seq));
  TRY(apply(::nrta_get_sequence, 0, NRTA_XU_COMPUTE, 0, &seq));
  TRY(write_with(tensor, buf, 0, 4, 0, 0, &ret, &seq));
  TRY(write_by<nrta_tensor_write>(tensor, buf));
  TRY(write_by<&::nrta_tensor_write>(tensor, buf));

  using namespace std::placeholders;
  const auto bound = std::bind(nrta_tensor_write, tensor, _1, 0, _2, 0, 0, &ret, &seq);
  TRY(bound(buf, 4));
  const std::function write = nrta_tensor_write;
  TRY(write(tensor, buf, 0, 4, 0, 0, &ret, &seq));
  TRY(std::invoke(nrta_cc_schedule, &context, 0, &ret, &seq));
  std::thread(nrta_get_sequence, 0, NRTA_XU_COMPUTE, 0, &seq).join();
  const auto schedule = [&](auto function) { return function(model, set, set, 0, &ret, &seq); };
  return schedule(nrta_execute_schedule);
}

}  // namespace program

#if NRT_ASYNC_API_VERSION == 0
NRT_STATUS trackers(nrt_tensor_t* tensor, nrt_model_t* model, nrt_tensor_set_t* set,
                    nrt_cc_context_t* context, nrta_error_tracker_t* tracker);
NRT_STATUS trackers(nrt_tensor_t* tensor, nrt_model_t* model, nrt_tensor_set_t* set,
                    nrt_cc_context_t* context, nrta_error_tracker_t* tracker) {
  nrta_seq_t seq = 0;
  char buf[4] = {};
  TRY(nrta_tensor_read(as<void*, char*>(buf), tensor, 0, 4, 0, tracker, &seq));
  TRY(nrta_tensor_write(tensor, as<const void*, char*>(buf), 0, 4, 0, tracker, &seq));
  TRY(nrta_tensor_copy(tensor, 0, tensor, 0, as<uint64_t, int>(4), 0, tracker, &seq));
  TRY(nrta_execute_schedule(as<nrt_model_t*, nrt_model_t*>(model), set, set, 0, tracker, &seq));
  TRY(nrta_cc_schedule(&context, as<int, int>(0), tracker, &seq));
  return write_with(tensor, buf, 0, 4, 0, tracker, &seq);
}
#endif
