/* Calls that need the runtime, before nrt_init and after nrt_close; and those that do not. */
#include <nrt/ndebug_stream.h>
#include <nrt/nrt_async_sendrecv.h>
#include <nrt/nrt_experimental.h>
#include <nrt/nrt_version.h>

#include "tests/nrt/snippets/snippet.h"

static void require_all(NRT_STATUS expected) {
  char byte = 0;
  int number = 0;
  uint32_t count = 1;
  size_t size = 0;
  bool done = false;
  void* payload = NULL;
  nrt_model_t* model = NULL;
  nrt_tensor_t* tensor = NULL;
  nrt_tensor_set_t* set = NULL;
  nrt_cc_context_t* context = NULL;
  nrt_vnc_memory_stats_t stats;
  ndebug_stream_event_header_t header;
  nrta_seq_t seq = 0;
#define ALL(call) REQUIRE((call) == expected)
  ALL(nrt_load(&byte, 1, 0, 1, &model));
  ALL(nrt_load_collectives(&byte, 1, 0, 1, 0, 2, &model));
  ALL(nrt_unload(model));
  ALL(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 1, NULL, &tensor));
  ALL(nrt_tensor_allocate_empty(NULL, &tensor));
  ALL(nrt_tensor_read(tensor, &byte, 0, 1));
  ALL(nrt_tensor_read_batch(NULL, 0));
  ALL(nrt_allocate_tensor_set(&set));
  ALL(nrt_execute(model, set, set));
  ALL(nrt_get_vnc_memory_stats(0, &stats, sizeof stats, &size));
  ALL(nrt_memcpy_to_device(&byte, &byte, 1));
  ALL(nrt_get_device_id(0, &number));
  ALL(nrt_host_device_id_get(0, &count));
  ALL(nrt_get_dmabuf_fd(0, 1, &number));
  ALL(nrt_debug_log_oom_report(0));
  ALL(nrt_build_global_comm(0, 0, 1));
  ALL(nrt_barrier(0, 0, 1));
  ALL(nrt_all_gather(0, 0, 1, 1, &byte, &byte));
  ALL(nrt_cc_create_stream(0));
  ALL(nrt_async_drain_queued_execs(0));
  ALL(nrt_async_sendrecv_init(0));
  ALL(nrt_async_sendrecv_test_comm(NULL, &done));
  ALL(nrt_debug_client_connect(0, &number));
  ALL(nrt_debug_client_read_one_event(0, &header, &payload));
  ALL(nrta_cc_schedule(&context, 0, (NRT_STATUS*)NULL, &seq));
  ALL(nrta_is_completed(seq, &done));
  ALL(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &seq));
  ALL(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, -1));

  nrt_version_t version;
  nrt_instance_info_t instance;
  SUCCEEDS(nrt_get_version(&version, sizeof version));
  SUCCEEDS(nrt_get_instance_info(&instance, sizeof instance));
  SUCCEEDS(nrt_get_total_vnc_count(&count));
  SUCCEEDS(nrt_get_visible_nc_count(&count));
  SUCCEEDS(nrt_free_model_tensor_info(NULL));
  nrt_tensor_free(&tensor);
  nrt_destroy_tensor_set(&set);
  nrt_pinned_free(nrt_pinned_malloc(1, NRT_PINNED_MALLOC));
}

int main(void) {
  nrt_close();
  require_all(NRT_UNINITIALIZED);
  SUCCEEDS(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, NULL, NULL));
  SUCCEEDS(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  nrt_close();
  nrt_close();
  require_all(NRT_CLOSED);
  (void)start;
  (void)finish;
  return 0;
}
