// nrt_load_run: loads a model, shows its tensors, runs it and keeps what it computed.
//
//   file -> nrt_load -> tensor infos -> tensors in two sets -> write, execute, read
//
// Every call waits until its work is done. samples/nrt_async_pipeline does the same work in the
// background.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "model.h"
#include "options.h"

enum { MOST_FILES = 64 };

typedef struct {
  const char* model;
  long iterations;
  const char* output_folder;
  const char* inputs[MOST_FILES];  // NAME=FILE
  int input_count;
} arguments;

static const char help[] =
    "Usage: nrt_load_run [options] MODEL.rai\n"
    "  -n COUNT      executions to time (10)\n"
    "  -i NAME=FILE  raw bytes for an input; without: numbers made up\n"
    "  -o FOLDER     writes every output to FOLDER/NAME.bin\n"
    "  -h, --help    shows this\n";

static bool parse_input(const char* text, arguments* parsed) {
  if (strchr(text, '=') == NULL) {
    fprintf(stderr, "Error: -i is \"%s\": it takes NAME=FILE\n", text);
    return false;
  }
  if (parsed->input_count == MOST_FILES) {
    fprintf(stderr, "Error: -i comes more than %d times\n", MOST_FILES);
    return false;
  }
  parsed->inputs[parsed->input_count++] = text;
  return true;
}

// 0, or the option that ends the program.
static int parse(int argc, char** argv, arguments* parsed) {
  memset(parsed, 0, sizeof *parsed);
  parsed->iterations = 10;
  for (int option; (option = next_option(argc, argv, "hn:i:o:")) != -1;) {
    if (option == 'n' && parse_count(optarg, 'n', &parsed->iterations)) continue;
    if (option == 'i' && parse_input(optarg, parsed)) continue;
    if (option != 'o') return option;
    parsed->output_folder = optarg;
  }
  return parse_model(argc, argv, &parsed->model) ? 0 : '?';
}

static void print_tensors(const nrt_tensor_info_array_t* info) {
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t* tensor = &info->tensor_array[i];
    printf("%-6s %-16s %9zu bytes, %s, shape",
           tensor->usage == NRT_TENSOR_USAGE_INPUT ? "input" : "output", tensor->name, tensor->size,
           dtype_name(tensor->dtype));
    for (uint32_t axis = 0; axis < tensor->ndim; ++axis)
      printf("%c%u", axis == 0 ? ' ' : 'x', tensor->shape[axis]);
    printf("\n");
  }
}

static const bound_tensor* find_input(const tensor_group* group, const char* name, size_t length) {
  for (size_t i = 0; i < group->count; ++i) {
    const nrt_tensor_info_t* info = group->tensors[i].info;
    if (info->usage == NRT_TENSOR_USAGE_INPUT && strlen(info->name) == length &&
        strncmp(info->name, name, length) == 0)
      return &group->tensors[i];
  }
  return NULL;
}

static bool read_input(const tensor_group* group, const char* argument) {
  const char* path = strchr(argument, '=') + 1;
  const int length = (int)(path - argument - 1);
  const bound_tensor* bound = find_input(group, argument, (size_t)length);
  if (bound == NULL) {
    fprintf(stderr, "Error: the model has no input \"%.*s\"\n", length, argument);
    return false;
  }
  size_t size = 0;
  void* bytes = read_file(path, &size);
  if (bytes == NULL) return false;
  const bool fits = size == bound->info->size;
  if (fits)
    memcpy(bound->host, bytes, size);
  else
    fprintf(stderr, "Error: %s has %zu bytes, the input \"%s\" takes %zu\n", path, size,
            bound->info->name, bound->info->size);
  free(bytes);
  return fits;
}

static bool write_inputs(const tensor_group* group) {
  for (size_t i = 0; i < group->count; ++i) {
    const bound_tensor* bound = &group->tensors[i];
    if (bound->info->usage == NRT_TENSOR_USAGE_INPUT &&
        !succeeded(nrt_tensor_write(bound->tensor, bound->host, 0, bound->info->size),
                   "nrt_tensor_write"))
      return false;
  }
  return true;
}

// A name may be a path; the file is not.
static bool save(const char* folder, const bound_tensor* bound) {
  char path[4096];
  const int folder_length = snprintf(path, sizeof path, "%s/", folder);
  const int length = snprintf(path, sizeof path, "%s/%s.bin", folder, bound->info->name);
  if (length < 0 || (size_t)length >= sizeof path) {
    fprintf(stderr, "Error: the name of the folder %s is too long\n", folder);
    return false;
  }
  for (char* at = path + folder_length; *at != '\0'; ++at)
    if (*at == '/') *at = '-';
  if (write_file(path, bound->host, bound->info->size) != 0) return false;
  printf("wrote %s\n", path);
  return true;
}

static bool read_outputs(const tensor_group* group, const char* folder) {
  for (size_t i = 0; i < group->count; ++i) {
    const bound_tensor* bound = &group->tensors[i];
    if (bound->info->usage != NRT_TENSOR_USAGE_OUTPUT) continue;
    if (!succeeded(nrt_tensor_read(bound->tensor, bound->host, 0, bound->info->size),
                   "nrt_tensor_read"))
      return false;
    if (folder != NULL && !save(folder, bound)) return false;
  }
  return true;
}

static bool execute(const loaded_model* loaded, const tensor_group* group, long iterations) {
  double fastest = 0, total = 0;
  for (long i = 0; i < iterations; ++i) {
    const double begin = milliseconds_now();
    if (!succeeded(nrt_execute(loaded->model, group->inputs, group->outputs), "nrt_execute"))
      return false;
    const double taken = milliseconds_now() - begin;
    total += taken;
    if (i == 0 || taken < fastest) fastest = taken;
  }
  printf("%ld executions, %.3f ms each, fastest %.3f ms\n", iterations, total / (double)iterations,
         fastest);
  return true;
}

static bool run(const arguments* arguments, loaded_model* loaded, tensor_group* group) {
  if (!load_model(arguments->model, 0, loaded)) return false;
  print_tensors(loaded->info);
  if (!allocate_tensors(loaded, 0, group)) return false;
  fill_inputs(group, 1);
  for (int i = 0; i < arguments->input_count; ++i)
    if (!read_input(group, arguments->inputs[i])) return false;
  if (!write_inputs(group) || !execute(loaded, group, arguments->iterations) ||
      !read_outputs(group, arguments->output_folder))
    return false;
  printf("outputs have the hash %016lx\n", hash_outputs(group));
  return true;
}

int main(int argc, char** argv) {
  arguments arguments;
  const int end = parse(argc, argv, &arguments);
  if (end != 0) return end_with_usage(help, end);
  // Now rather than after all executions.
  if (arguments.output_folder != NULL && !is_writable_folder(arguments.output_folder)) return 1;
  if (!succeeded(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init")) return 1;
  loaded_model loaded = {0};
  tensor_group group = {0};
  const bool ok = run(&arguments, &loaded, &group);
  free_tensors(&group);
  unload_model(&loaded);
  nrt_close();
  return finish_output(ok ? 0 : 1);
}
