/* What the programs share: checks, the model, and tensors and sets for it. In C and in C++.

   A program is called with three files: a model of one input and one output, numbers for the input,
   and the numbers that the model makes of them. It exits with 0 when all its checks held. */
#pragma once

#include <nrt/nrt.h>
#include <nrt/nrt_async.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUIRE(condition)                                                    \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

#define SUCCEEDS(call)                                           \
  do {                                                           \
    const NRT_STATUS status_of_call = (call);                    \
    if (status_of_call != NRT_SUCCESS) {                         \
      fprintf(stderr, "%s:%d: %s from %s\n", __FILE__, __LINE__, \
              nrt_get_status_as_str(status_of_call), #call);     \
      exit(1);                                                   \
    }                                                            \
  } while (0)

struct bytes {
  char* data;
  size_t size;
};

/* The model on core 0, and one request's tensors and host buffers. */
struct program {
  nrt_model_t* model;
  nrt_tensor_t *input, *output;
  nrt_tensor_set_t *inputs, *outputs;
  struct bytes x, y, expected;
};

static struct bytes read_file(const char* path) {
  struct bytes bytes = {NULL, 0};
  FILE* file = fopen(path, "rb");
  REQUIRE(file != NULL);
  REQUIRE(fseek(file, 0, SEEK_END) == 0);
  bytes.size = (size_t)ftell(file);
  rewind(file);
  bytes.data = (char*)malloc(bytes.size);
  REQUIRE(bytes.data != NULL && fread(bytes.data, 1, bytes.size, file) == bytes.size);
  fclose(file);
  return bytes;
}

static struct program start(int argc, char** argv) {
  struct program program;
  memset(&program, 0, sizeof program);
  REQUIRE(argc == 4);
  program.x = read_file(argv[2]);
  program.expected = read_file(argv[3]);
  program.y = read_file(argv[3]);

  SUCCEEDS(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  struct bytes archive = read_file(argv[1]);
  SUCCEEDS(nrt_load(archive.data, archive.size, 0, -1, &program.model));
  free(archive.data);

  nrt_tensor_info_array_t* info = NULL;
  SUCCEEDS(nrt_get_model_tensor_info(program.model, &info));
  SUCCEEDS(nrt_allocate_tensor_set(&program.inputs));
  SUCCEEDS(nrt_allocate_tensor_set(&program.outputs));
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &info->tensor_array[i];
    const bool is_input = one->usage == NRT_TENSOR_USAGE_INPUT;
    nrt_tensor_t** tensor = is_input ? &program.input : &program.output;
    SUCCEEDS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, one->size, one->name, tensor));
    SUCCEEDS(nrt_add_tensor_to_tensor_set(is_input ? program.inputs : program.outputs, one->name,
                                          *tensor));
  }
  SUCCEEDS(nrt_free_model_tensor_info(info));
  REQUIRE(nrt_tensor_get_size(program.input) == program.x.size);
  REQUIRE(nrt_tensor_get_size(program.output) == program.y.size);
  memset(program.y.data, 0xff, program.y.size);
  return program;
}

static inline void require_expected(const struct program* program) {
  REQUIRE(memcmp(program->y.data, program->expected.data, program->y.size) == 0);
}

static int finish(struct program* program) {
  nrt_tensor_free(&program->input);
  nrt_tensor_free(&program->output);
  nrt_destroy_tensor_set(&program->inputs);
  nrt_destroy_tensor_set(&program->outputs);
  SUCCEEDS(nrt_unload(program->model));
  nrt_close();
  free(program->x.data);
  free(program->y.data);
  free(program->expected.data);
  return 0;
}
