/* A library whose kernel replaces a built-in one: a pass_through that inverts every byte. */
#include <millrace/pl_kernel.h>

static int invert(const millrace_pl_argument* arguments, char* reason, size_t reason_bytes) {
  (void)reason;
  (void)reason_bytes;
  const unsigned char* in = arguments[0].data;
  unsigned char* out = arguments[1].data;
  for (uint64_t i = 0; i < arguments[2].value; ++i) out[i] = (unsigned char)~in[i];
  return 0;
}

static const millrace_pl_argument_info arguments[] = {
    {"from", "unsigned char*", 8, MILLRACE_PL_INPUT_BUFFER, 0},
    {"to", "unsigned char*", 8, MILLRACE_PL_OUTPUT_BUFFER, 0},
    {"bytes", "unsigned int", 4, MILLRACE_PL_SCALAR, 0}};
static const millrace_pl_kernel kernels[] = {{"pass_through", arguments, 3, invert, NULL}};
static const millrace_pl_kernel_list list = {MILLRACE_PL_KERNELS_VERSION, kernels, 1};

const millrace_pl_kernel_list* millrace_pl_kernels(void) {
  return &list;
}
