/* Arguments with commas outside parentheses, of which the preprocessor makes several: literals of
   C, template arguments and braces of C++. */
#include <nrt/nrt_async.h>
#include <stddef.h>

#include "tests/nrt_headers/doubles.h"

#ifdef __cplusplus
extern "C++" {
template <typename From, typename To>
To* as(From* from) {
  return static_cast<To*>(static_cast<void*>(from));
}
template <typename T, int kSize>
struct Several {
  T values[kSize];
  T* data() { return values; }
};
}
#define THREE(type, ...) Several<type, 3>{{__VA_ARGS__}}.data()
#else
#define THREE(type, ...) \
  (type[3]) {            \
    __VA_ARGS__          \
  }
#endif

static void make_calls_with_commas(void) {
  NRT_STATUS* ret = (NRT_STATUS*)(void*)the_ret;
  nrta_error_tracker_t* tracker = (nrta_error_tracker_t*)(void*)the_tracker;
  nrt_tensor_t* tensor = (nrt_tensor_t*)(void*)the_object;
  nrt_model_t* model = (nrt_model_t*)(void*)the_object;
  nrt_tensor_batch_t batch = {tensor, NULL, 0};
  nrt_tensor_set_t* set = the_object;
  nrta_seq_t seq;

  nrta_tensor_read(THREE(char, 1, 2), tensor, 0, 3, 3, 1, ret, &seq);
  nrta_tensor_write(tensor, THREE(float, 1, 2, 3), 0, 12, 3, 1, ret, &seq);
  nrta_tensor_copy(THREE(nrt_tensor_t*, tensor, NULL)[0], 0, THREE(nrt_tensor_t*, tensor, NULL)[0],
                   0, 4, 3, 1, ret, &seq);
  nrta_execute_schedule(THREE(nrt_model_t*, model, NULL)[0], set, set, 0, ret, &seq);
  nrta_cc_schedule(THREE(nrt_cc_context_t*, NULL, NULL), 0, ret, &seq);
  nrta_get_sequence(THREE(uint32_t, 2, 1)[0], NRTA_XU_COMPUTE, 0, &seq);

  nrt_tensor_read_batch(THREE(nrt_tensor_batch_t, batch, batch, batch), 3);
  nrt_tensor_write_batch(THREE(nrt_tensor_batch_t, batch, batch, batch), 3);
  nrt_tensor_read_batch(THREE(nrt_tensor_batch_t, batch, batch, batch), 3, true);
  nrt_tensor_write_batch(THREE(nrt_tensor_batch_t, batch, batch, batch), 3, false);

  /* One comma, so that there are as many arguments as in another form. */
#ifdef __cplusplus
  nrta_tensor_write(tensor, as<float, const char>(THREE(float, 1, 2)), 0, 8, 3, 1, ret, &seq);
  nrt_tensor_read_batch(as<nrt_tensor_batch_t, const nrt_tensor_batch_t>(&batch), 1);
#else
  nrta_tensor_write(tensor, (float[]){1, 2}, 0, 8, 3, 1, ret, &seq);
  nrt_tensor_read_batch((nrt_tensor_batch_t[]){batch, batch}, 1);
#endif

  /* In parentheses every form takes them. */
  nrta_tensor_write(tensor, (THREE(float, 1, 2, 3)), 0, 12, 1, ret, &seq);
  nrta_tensor_write(tensor, (THREE(float, 1, 2, 3)), 0, 12, 1, tracker, &seq);
  nrta_execute_schedule((THREE(nrt_model_t*, model, NULL)[0]), set, set, 0, tracker, &seq);
  nrta_get_sequence((THREE(uint32_t, 2, 1)[0]), NRTA_XU_COMPUTE, &seq);
}
