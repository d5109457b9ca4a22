/* Software kernels: functions that stand for kernels in programmable logic.
 *
 * A program for a board starts such kernels through vart::PLKernel or xrt::kernel. Here both take
 * them from a shared library that the environment variable MILLRACE_PL_KERNELS names (PLKernel also
 * from its JSON key "kernel-library"), after those that are built in: `pass_through`, which copies
 * 32-bit words from its first buffer to its second. The library exports one function,
 * millrace_pl_kernels:
 *
 *     static int fill(const millrace_pl_argument* arguments, char* reason, size_t reason_bytes) {
 *       if (arguments[1].value > arguments[0].bytes) {
 *         snprintf(reason, reason_bytes, "the buffer is too small");
 *         return 1;
 *       }
 *       memset(arguments[0].data, 0, arguments[1].value);
 *       return 0;
 *     }
 *     static const millrace_pl_argument_info arguments[] = {
 *         {"out", "unsigned char*", 8, MILLRACE_PL_OUTPUT_BUFFER, 0},
 *         {"bytes", "unsigned int", 4, MILLRACE_PL_SCALAR, 0}};
 *     static const millrace_pl_kernel kernels[] = {{"fill", arguments, 2, fill}};
 *     static const millrace_pl_kernel_list list = {MILLRACE_PL_KERNELS_VERSION, kernels, 1};
 *     const millrace_pl_kernel_list* millrace_pl_kernels(void) { return &list; }
 *
 * C11 and C++11 and later. The library is opened once and never closed; what the list refers to
 * must live as long. */
#ifndef MILLRACE_PL_KERNEL_H
#define MILLRACE_PL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the structures below. A library with another one is refused. */
#define MILLRACE_PL_KERNELS_VERSION 1

typedef enum millrace_pl_argument_kind {
  MILLRACE_PL_SCALAR = 0,
  MILLRACE_PL_INPUT_BUFFER = 1,
  MILLRACE_PL_OUTPUT_BUFFER = 2 /* may be read, too */
} millrace_pl_argument_kind;

/* What a kernel says of one argument. */
typedef struct millrace_pl_argument_info {
  const char* name;
  const char*
      type;    /* the type in the kernel's source, such as "unsigned int*"; for programs to show */
  size_t size; /* bytes that are passed: 8 for a buffer, 1 to 8 for a scalar */
  millrace_pl_argument_kind kind;
  uint32_t memory_bank; /* of a buffer: the bank that it should be allocated in */
} millrace_pl_argument_info;

/* One argument of a call. A buffer begins at the device address that the program passed, and ends
 * with the memory in which this address lies. */
typedef struct millrace_pl_argument {
  void* data;     /* buffers: the first byte; null for scalars */
  size_t bytes;   /* buffers: how many there are */
  uint64_t value; /* scalars: the value in its low bytes, the rest 0; buffers: the device address */
} millrace_pl_argument;

typedef struct millrace_pl_kernel {
  const char* name;
  const millrace_pl_argument_info* arguments;
  size_t argument_count;
  /* Runs the kernel to its end, with as many arguments as it has; buffers are live memory, and
   * those of outputs can be written. Returns 0 on success; else writes a text with an end to
   * `reason`, which has room for `reason_bytes`. Called on threads of the library, by several at
   * the same time. Must not throw. */
  int (*run)(const millrace_pl_argument* arguments, char* reason, size_t reason_bytes);
} millrace_pl_kernel;

typedef struct millrace_pl_kernel_list {
  uint32_t version; /* MILLRACE_PL_KERNELS_VERSION */
  const millrace_pl_kernel* kernels;
  size_t count;
} millrace_pl_kernel_list;

/* What a library of kernels exports. */
const millrace_pl_kernel_list* millrace_pl_kernels(void);

#ifdef __cplusplus
}
#endif

#endif /* MILLRACE_PL_KERNEL_H */
