// C programs use the functions whose names are macros in all ways in which they use plain ones.
#include <dlfcn.h>
#include <nrt/nrt_async.h>

#define TYPE_OF(function) __typeof__(&function)
#define TRY(function, ...)                               \
  do {                                                   \
    const NRT_STATUS try_status = function(__VA_ARGS__); \
    if (try_status != NRT_SUCCESS) return try_status;    \
  } while (0)

struct library {
  TYPE_OF(nrta_tensor_write) nrta_tensor_write;
  TYPE_OF(nrta_tensor_copy) nrta_tensor_copy;
  TYPE_OF(nrta_execute_schedule) nrta_execute_schedule;
  TYPE_OF(nrta_get_sequence) get_sequence;
  TYPE_OF(nrt_tensor_write_batch) nrt_tensor_write_batch;
};

struct library of_the_loader(void* handle);
struct library of_the_loader(void* handle) {
  struct library library;
#define FIND(member, function) *(void**)&library.member = dlsym(handle, #function)
  FIND(nrta_tensor_write, nrta_tensor_write);
  FIND(nrta_tensor_copy, nrta_tensor_copy);
  FIND(nrta_execute_schedule, nrta_execute_schedule);
  FIND(get_sequence, nrta_get_sequence);
  FIND(nrt_tensor_write_batch, nrt_tensor_write_batch);
  return library;
}

struct library of_the_linker(void);
struct library of_the_linker(void) {
  const struct library library = {.nrta_tensor_write = nrta_tensor_write,
                                  .nrta_tensor_copy = &nrta_tensor_copy,
                                  .nrta_execute_schedule = nrta_execute_schedule,
                                  .get_sequence = &nrta_get_sequence,
                                  .nrt_tensor_write_batch = nrt_tensor_write_batch};
  return library;
}

NRT_STATUS all(const struct library* library, nrt_tensor_t* tensor, nrt_model_t* model, void* set);
NRT_STATUS all(const struct library* library, nrt_tensor_t* tensor, nrt_model_t* model, void* set) {
  NRT_STATUS ret;
  nrta_seq_t seq;
  const nrt_tensor_batch_t batch = {tensor, NULL, 0};
  TRY(library->nrta_tensor_write, tensor, (float[]){1, 2, 3}, 0, 12, 0, 0, &ret, &seq);
  TRY(library->nrta_tensor_copy, tensor, 0, tensor, 0, 4, 0, 0, &ret, &seq);
  TRY((*library->nrta_execute_schedule), model, set, set, 0, &ret, &seq);
  TRY(library->get_sequence, 0, NRTA_XU_COMPUTE, 0, &seq);
  TRY(library->nrt_tensor_write_batch, &batch, 1);

  TRY((nrta_tensor_write), tensor, (float[]){1, 2, 3}, 0, 12, 0, 0, &ret, &seq);
  TRY((&nrta_execute_schedule), model, set, set, 0, &ret, &seq);
  TRY((nrt_tensor_write_batch), &batch, 1);
  TRY(nrta_tensor_write, tensor, (float[]){1, 2, 3}, 0, 12, 0, 0, &ret, &seq);
  TRY(nrta_execute_schedule, model, set, set, 0, &ret, &seq);
  TRY(nrta_get_sequence, 0, NRTA_XU_COMPUTE, 0, &seq);
  TRY(nrt_tensor_write_batch, &(nrt_tensor_batch_t){.tensor = tensor, .ops = NULL, .num_ops = 0},
      1);
  return NRT_SUCCESS;
}
