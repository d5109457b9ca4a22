/* A library of software kernels, as a user would write one; see millrace/pl_kernel.h. */
#include <millrace/pl_kernel.h>
#include <stdatomic.h>
#include <stdio.h>

/* fill(out, words, value) */
static int fill(const millrace_pl_argument* arguments, char* reason, size_t reason_bytes) {
  const uint64_t words = arguments[1].value;
  uint32_t* out = arguments[0].data;
  if (words > arguments[0].bytes / sizeof *out) {
    snprintf(reason, reason_bytes, "there is no room for %llu words", (unsigned long long)words);
    return 1;
  }
  for (uint64_t i = 0; i < words; ++i) out[i] = (uint32_t)arguments[2].value;
  return 0;
}

/* The run time of fill: 1 ns for each word. */
static uint64_t fill_time(const millrace_pl_argument* arguments) {
  return arguments[1].value;
}

/* await(flag): returns once the first word is not 0. */
static int await(const millrace_pl_argument* arguments, char* reason, size_t reason_bytes) {
  (void)reason;
  (void)reason_bytes;
  const atomic_uint* flag = arguments[0].data;
  while (atomic_load(flag) == 0) continue;
  return 0;
}

/* endless(out): sets the first word to 1 at once, and takes for ever in programmable logic. */
static int endless(const millrace_pl_argument* arguments, char* reason, size_t reason_bytes) {
  (void)reason;
  (void)reason_bytes;
  atomic_store((atomic_uint*)arguments[0].data, 1);
  return 0;
}
static uint64_t for_ever(const millrace_pl_argument* arguments) {
  (void)arguments;
  return UINT64_MAX;
}

static const millrace_pl_argument_info fill_arguments[] = {
    {"out", "unsigned int*", 8, MILLRACE_PL_OUTPUT_BUFFER, 1},
    {"words", "unsigned int", 4, MILLRACE_PL_SCALAR, 0},
    {"value", "float", 4, MILLRACE_PL_SCALAR, 0}};
static const millrace_pl_argument_info await_arguments[] = {
    {"flag", "unsigned int*", 8, MILLRACE_PL_INPUT_BUFFER, 0}};
static const millrace_pl_argument_info endless_arguments[] = {
    {"out", "unsigned int*", 8, MILLRACE_PL_OUTPUT_BUFFER, 0}};
static const millrace_pl_kernel kernels[] = {{"fill", fill_arguments, 3, fill, fill_time},
                                             {"await", await_arguments, 1, await, NULL},
                                             {"endless", endless_arguments, 1, endless, for_ever}};
static const millrace_pl_kernel_list list = {MILLRACE_PL_KERNELS_VERSION, kernels, 3};

const millrace_pl_kernel_list* millrace_pl_kernels(void) {
  return &list;
}
