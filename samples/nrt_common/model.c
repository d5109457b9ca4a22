#include "model.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

bool succeeded(NRT_STATUS status, const char* call) {
  if (status == NRT_SUCCESS) return true;
  fprintf(stderr, "Error: %s failed: %s\n", call, nrt_get_status_as_str(status));
  return false;
}

const char* dtype_name(nrt_dtype_t dtype) {
  static const char* const names[] = {
      [NRT_DTYPE_UNKNOWN] = "unknown",   [NRT_DTYPE_UINT64] = "uint64",
      [NRT_DTYPE_INT8] = "int8",         [NRT_DTYPE_UINT8] = "uint8",
      [NRT_DTYPE_INT16] = "int16",       [NRT_DTYPE_UINT16] = "uint16",
      [NRT_DTYPE_BFLOAT16] = "bfloat16", [NRT_DTYPE_FLOAT16] = "float16",
      [NRT_DTYPE_INT32] = "int32",       [NRT_DTYPE_UINT32] = "uint32",
      [NRT_DTYPE_FLOAT32] = "float32",   [NRT_DTYPE_FP32R] = "fp32r",
      [NRT_DTYPE_INT64] = "int64",       [NRT_DTYPE_FP8_E3] = "fp8_e3",
      [NRT_DTYPE_FP8_E4] = "fp8_e4",     [NRT_DTYPE_FP8_E5] = "fp8_e5"};
  return (size_t)dtype < sizeof names / sizeof *names ? names[dtype] : "unknown";
}

bool load_model(const char* path, int core, loaded_model* loaded) {
  memset(loaded, 0, sizeof *loaded);
  size_t size = 0;
  void* bytes = read_file(path, &size);
  if (bytes == NULL) return false;
  const NRT_STATUS status = nrt_load(bytes, size, core, 1, &loaded->model);
  free(bytes);
  if (!succeeded(status, "nrt_load")) return false;
  return succeeded(nrt_get_model_tensor_info(loaded->model, &loaded->info),
                   "nrt_get_model_tensor_info");
}

void unload_model(loaded_model* loaded) {
  if (loaded->model != NULL) nrt_unload(loaded->model);
  nrt_free_model_tensor_info(loaded->info);
  memset(loaded, 0, sizeof *loaded);
}

static bool allocate_tensor(const nrt_tensor_info_t* info, int core, tensor_group* group) {
  bound_tensor* bound = &group->tensors[group->count++];
  bound->info = info;
  bound->host = calloc(1, info->size);
  if (bound->host == NULL) return succeeded(NRT_RESOURCE, "calloc");
  if (!succeeded(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core, info->size, info->name,
                                     &bound->tensor),
                 "nrt_tensor_allocate"))
    return false;
  nrt_tensor_set_t* set = info->usage == NRT_TENSOR_USAGE_INPUT ? group->inputs : group->outputs;
  return succeeded(nrt_add_tensor_to_tensor_set(set, info->name, bound->tensor),
                   "nrt_add_tensor_to_tensor_set");
}

bool allocate_tensors(const loaded_model* loaded, int core, tensor_group* group) {
  memset(group, 0, sizeof *group);
  group->tensors = calloc(loaded->info->tensor_count, sizeof *group->tensors);
  if (group->tensors == NULL) return succeeded(NRT_RESOURCE, "calloc");
  bool ok = succeeded(nrt_allocate_tensor_set(&group->inputs), "nrt_allocate_tensor_set") &&
            succeeded(nrt_allocate_tensor_set(&group->outputs), "nrt_allocate_tensor_set");
  for (uint64_t i = 0; ok && i < loaded->info->tensor_count; ++i)
    ok = allocate_tensor(&loaded->info->tensor_array[i], core, group);
  return ok;
}

void free_tensors(tensor_group* group) {
  for (size_t i = 0; i < group->count; ++i) {
    nrt_tensor_free(&group->tensors[i].tensor);
    free(group->tensors[i].host);
  }
  nrt_destroy_tensor_set(&group->inputs);
  nrt_destroy_tensor_set(&group->outputs);
  free(group->tensors);
  memset(group, 0, sizeof *group);
}

static void fill(const bound_tensor* bound, unsigned seed) {
  if (bound->info->dtype == NRT_DTYPE_FLOAT32) {
    float* numbers = bound->host;
    for (size_t i = 0; i < bound->info->size / sizeof *numbers; ++i)
      numbers[i] = (float)((i * 7 + seed * 5) % 17) / 16.0f;
  } else {
    unsigned char* bytes = bound->host;
    for (size_t i = 0; i < bound->info->size; ++i) bytes[i] = (unsigned char)((i + seed) % 61);
  }
}

void fill_inputs(const tensor_group* group, unsigned seed) {
  for (size_t i = 0; i < group->count; ++i)
    if (group->tensors[i].info->usage == NRT_TENSOR_USAGE_INPUT) fill(&group->tensors[i], seed);
}

unsigned long hash_outputs(const tensor_group* group) {
  uint64_t hash = UINT64_C(14695981039346656037);  // FNV-1a
  for (size_t i = 0; i < group->count; ++i) {
    const bound_tensor* bound = &group->tensors[i];
    const unsigned char* bytes = bound->host;
    if (bound->info->usage != NRT_TENSOR_USAGE_OUTPUT) continue;
    for (size_t at = 0; at < bound->info->size; ++at)
      hash = (hash ^ bytes[at]) * UINT64_C(1099511628211);
  }
  return (unsigned long)hash;
}
