// A client of the installed NRT API: loads a model, describes its tensors, and executes it once by
// an explicit request.
#include <nrt/nrt.h>
#include <nrt/nrt_async.h>
#include <stdio.h>
#include <stdlib.h>

#include "loaded_files.h"

static void* read_model(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(3);
  *size = (size_t)ftell(file);
  rewind(file);
  void* bytes = malloc(*size);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) exit(3);
  fclose(file);
  return bytes;
}

static NRT_STATUS execute(nrt_model_t* model, nrt_tensor_set_t* inputs, nrt_tensor_set_t* outputs) {
  NRT_STATUS ret = NRT_FAILURE;
  nrta_seq_t sequence = 0;
  const NRT_STATUS accepted = nrta_execute_schedule(model, inputs, outputs, 0, &ret, &sequence);
  if (accepted != NRT_SUCCESS) return accepted;
  for (bool completed = false; !completed;) {
    const NRT_STATUS asked = nrta_is_completed(sequence, &completed);
    if (asked != NRT_SUCCESS) return asked;
  }
  return ret;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  size_t size = 0;
  void* bytes = read_model(argv[1], &size);
  nrt_model_t* model = NULL;
  nrt_tensor_info_array_t* info = NULL;
  nrt_tensor_set_t *inputs = NULL, *outputs = NULL;
  if (nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") != NRT_SUCCESS ||
      nrt_load(bytes, size, 0, 1, &model) != NRT_SUCCESS ||
      nrt_get_model_tensor_info(model, &info) != NRT_SUCCESS ||
      nrt_allocate_tensor_set(&inputs) != NRT_SUCCESS ||
      nrt_allocate_tensor_set(&outputs) != NRT_SUCCESS)
    return 1;
  free(bytes);
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t* tensor = &info->tensor_array[i];
    const bool is_input = tensor->usage == NRT_TENSOR_USAGE_INPUT;
    nrt_tensor_t* storage = NULL;
    printf("%s %s %zu bytes\n", is_input ? "INPUT" : "OUTPUT", tensor->name, tensor->size);
    if (nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, tensor->size, NULL, &storage) !=
            NRT_SUCCESS ||
        nrt_add_tensor_to_tensor_set(is_input ? inputs : outputs, tensor->name, storage) !=
            NRT_SUCCESS)
      return 1;
  }
  printf("%s\n", nrt_get_status_as_str(execute(model, inputs, outputs)));
  print_loaded_files();
  nrt_free_model_tensor_info(info);
  nrt_close();
  return 0;
}
