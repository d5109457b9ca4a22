// A loaded model and a complete set of its tensors, for the NRT samples.
#pragma once

#include <stddef.h>

#include "nrt/nrt.h"

// Says on standard error which call failed, and how; whether it succeeded.
bool succeeded(NRT_STATUS status, const char* call);

typedef struct {
  nrt_model_t* model;
  nrt_tensor_info_array_t* info;
} loaded_model;

// "float32", for a line about a tensor.
const char* dtype_name(nrt_dtype_t dtype);

// Loads the archive onto core `core`, and asks for its tensors. The bytes of the file are not
// needed any more then.
bool load_model(const char* path, int core, loaded_model* loaded);
void unload_model(loaded_model* loaded);

// One tensor of a model with a buffer of the host for it.
typedef struct {
  const nrt_tensor_info_t* info;
  nrt_tensor_t* tensor;
  void* host;  // info->size bytes
} bound_tensor;

// Everything for one execution: all inputs and outputs, in two sets.
typedef struct {
  nrt_tensor_set_t* inputs;
  nrt_tensor_set_t* outputs;
  bound_tensor* tensors;  // `count`, in the order of the model
  size_t count;
} tensor_group;

bool allocate_tensors(const loaded_model* loaded, int core, tensor_group* group);
void free_tensors(tensor_group* group);

// Fills the host buffers of the inputs with numbers that depend on `seed`.
void fill_inputs(const tensor_group* group, unsigned seed);
// A number by which the contents of the outputs' host buffers can be compared.
unsigned long hash_outputs(const tensor_group* group);
