// The address of every function, also of those whose names are macros: none depends on a call.
#include <ndl/ndl.h>
#include <nrt/ndebug_stream.h>
#include <nrt/nds/neuron_ds.h>
#include <nrt/nec.h>
#include <nrt/nrt_async.h>
#include <nrt/nrt_async_sendrecv.h>
#include <nrt/nrt_experimental.h>
#include <nrt/nrt_profile.h>
#include <nrt/nrt_sys_trace.h>
#include <nrt/nrt_version.h>

typedef void (*function)(void);
#define ADDRESS(name) (function) & name,
const function* addresses(void);
const function* addresses(void) {
  static const function all[] = {
#include "functions.inc"
  };
  return all;
}

// The types of those whose names are macros.
struct table {
#if NRT_ASYNC_API_VERSION == 228
  NRT_STATUS(*nrta_tensor_read)
  (void*, nrt_tensor_t*, uint64_t, uint64_t, int, nrta_error_tracker_t*, nrta_seq_t*);
  NRT_STATUS (*nrt_tensor_read_batch)(const nrt_tensor_batch_t*, uint64_t, bool);
#else
  NRT_STATUS(*nrta_tensor_read)
  (void*, nrt_tensor_t*, uint64_t, uint64_t, int, int, NRT_STATUS*, nrta_seq_t*);
  NRT_STATUS (*nrt_tensor_read_batch)(const nrt_tensor_batch_t*, uint64_t);
#endif
  NRT_STATUS (*nrta_get_sequence)(uint32_t, nrta_xu_t, int, nrta_seq_t*);
};

// Members are called as they are declared, by programs that load the library themselves.
NRT_STATUS through_a_table(nrt_tensor_t* tensor, const nrt_tensor_batch_t* batch);
NRT_STATUS through_a_table(nrt_tensor_t* tensor, const nrt_tensor_batch_t* batch) {
  const struct table table = {nrta_tensor_read, nrt_tensor_read_batch, &nrta_get_sequence};
  nrta_seq_t seq;
  char buf[4];
  NRT_STATUS status = table.nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &seq);
#if NRT_ASYNC_API_VERSION == 228
  status = status ? status : table.nrta_tensor_read(buf, tensor, 0, 4, 0, NULL, &seq);
  return status ? status : table.nrt_tensor_read_batch(batch, 1, true);
#else
  NRT_STATUS ret;
  status = status ? status : table.nrta_tensor_read(buf, tensor, 0, 4, 0, 0, &ret, &seq);
  return status ? status : table.nrt_tensor_read_batch(batch, 1);
#endif
}

#ifdef __cplusplus
// No name is overloaded.
decltype(&nrta_execute_schedule) execute = &nrta_execute_schedule;
decltype(&nrta_tensor_write) tensor_write = nrta_tensor_write;
auto get_sequence = &nrta_get_sequence;
auto cc_schedule = nrta_cc_schedule;
#endif
