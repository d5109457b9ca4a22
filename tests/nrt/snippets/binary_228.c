/* Asks for its functions as a program does that was built with 2.28, by name and version: with
   error trackers, and units of their own for reads and writes. */
#define NRT_ASYNC_API_VERSION 229 /* what it includes must not matter */
#include "tests/nrt/snippets/snippet.h"

struct tracker;
enum { READ, WRITE, COPY, COMPUTE, COLLECTIVES };

#ifdef __cplusplus
extern "C" {
#endif
NRT_STATUS old_tracker_create(uint32_t core, struct tracker** tracker);
void old_tracker_destroy(struct tracker* tracker);
NRT_STATUS old_tracker_get_list(struct tracker* tracker, const nrta_error_t** list, size_t* count);
NRT_STATUS old_write(nrt_tensor_t* tensor, const void* buffer, uint64_t offset, uint64_t size,
                     int queue, struct tracker* tracker, nrta_seq_t* seq);
NRT_STATUS old_read(void* buffer, nrt_tensor_t* tensor, uint64_t offset, uint64_t size, int queue,
                    struct tracker* tracker, nrta_seq_t* seq);
NRT_STATUS old_copy(nrt_tensor_t* from, uint64_t from_offset, nrt_tensor_t* to, uint64_t to_offset,
                    uint64_t size, int queue, struct tracker* tracker, nrta_seq_t* seq);
NRT_STATUS old_execute(nrt_model_t* model, const nrt_tensor_set_t* input, nrt_tensor_set_t* output,
                       int queue, struct tracker* tracker, nrta_seq_t* seq);
NRT_STATUS old_get_sequence(uint32_t core, int kind, int queue, nrta_seq_t* seq);
NRT_STATUS old_is_completed(nrta_seq_t seq, bool* completed);
#ifdef __cplusplus
}
#endif

#define BIND(own, name) __asm__(".symver " #own "," #name "@NRT_2.0.0")
BIND(old_tracker_create, nrta_error_tracker_create);
BIND(old_tracker_destroy, nrta_error_tracker_destroy);
BIND(old_tracker_get_list, nrta_error_tracker_get_list);
BIND(old_write, nrta_tensor_write);
BIND(old_read, nrta_tensor_read);
BIND(old_copy, nrta_tensor_copy);
BIND(old_execute, nrta_execute_schedule);
BIND(old_get_sequence, nrta_get_sequence);
BIND(old_is_completed, nrta_is_completed);

/* The unit of that kind gave the id, and comes to it. */
static void wait_until(int kind, nrta_seq_t seq) {
  nrta_seq_t completed = 0;
  bool is_completed = false;
  while (NRTA_SEQ_GET_SEQ_NUM(completed) < NRTA_SEQ_GET_SEQ_NUM(seq)) {
    SUCCEEDS(old_get_sequence(0, kind, 0, &completed));
    REQUIRE(NRTA_SEQ_GET_XU_ID(completed) == NRTA_SEQ_GET_XU_ID(seq));
  }
  SUCCEEDS(old_is_completed(seq, &is_completed));
  REQUIRE(is_completed);
}

int main(int argc, char** argv) {
  struct program program = start(argc, argv);
  struct tracker* tracker = NULL;
  SUCCEEDS(old_tracker_create(0, &tracker));
  nrt_tensor_t* copy = NULL;
  SUCCEEDS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, program.y.size, "copy", &copy));

  nrta_seq_t seq = 0;
  SUCCEEDS(old_write(program.input, program.x.data, 0, program.x.size, 0, tracker, &seq));
  wait_until(WRITE, seq);
  SUCCEEDS(old_execute(program.model, program.inputs, program.outputs, 0, tracker, &seq));
  wait_until(COMPUTE, seq);
  SUCCEEDS(old_copy(program.output, 0, copy, 0, program.y.size, 0, tracker, &seq));
  wait_until(COPY, seq);
  SUCCEEDS(old_read(program.y.data, copy, 0, program.y.size, 0, tracker, &seq));
  wait_until(READ, seq);
  require_expected(&program);

  const nrta_error_t* list = NULL;
  size_t count = 1;
  SUCCEEDS(old_tracker_get_list(tracker, &list, &count));
  REQUIRE(count == 0);
  old_tracker_destroy(tracker);
  nrt_tensor_free(&copy);
  return finish(&program);
}
