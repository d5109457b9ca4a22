/* Software kernels: functions that replace kernels in programmable logic (PL).
 *
 * A program for a board starts such kernels through vart::PLKernel or xrt::kernel. In Millrace both
 * look for a kernel first in a shared library, which the environment variable MILLRACE_PL_KERNELS
 * names (for PLKernel also its JSON key "kernel-library"), and then among the built-in ones:
 * `pass_through`, which copies its first buffer to its second. So the library may replace a
 * built-in kernel by a model of the user's own. It exports one function, millrace_pl_kernels:
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
 *     // 16 bytes per cycle of a clock of 250 MHz.
 *     static uint64_t fill_time(const millrace_pl_argument* arguments) {
 *       return arguments[1].value / 16 * 4;
 *     }
 *     static const millrace_pl_kernel kernels[] = {{"fill", arguments, 2, fill, fill_time}};
 *     static const millrace_pl_kernel_list list = {MILLRACE_PL_KERNELS_VERSION, kernels, 1};
 *     const millrace_pl_kernel_list* millrace_pl_kernels(void) { return &list; }
 *
 * This header compiles as C11 and C++11 and later. The library is opened once and never closed; the
 * list and everything that it refers to must stay valid. */
#ifndef MILLRACE_PL_KERNEL_H
#define MILLRACE_PL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the structures below. A library with another version is rejected. */
#define MILLRACE_PL_KERNELS_VERSION 2

typedef enum millrace_pl_argument_kind {
  MILLRACE_PL_SCALAR = 0,
  MILLRACE_PL_INPUT_BUFFER = 1,
  MILLRACE_PL_OUTPUT_BUFFER = 2 /* may be read, too */
} millrace_pl_argument_kind;

/* The description of one argument of a kernel. */
typedef struct millrace_pl_argument_info {
  const char* name;
  const char*
      type;    /* the type in the kernel's source, such as "unsigned int*"; for programs to show */
  size_t size; /* bytes that are used of what is passed: 8 for a buffer, 1 to 8 for a scalar */
  millrace_pl_argument_kind kind;
  uint32_t memory_bank; /* buffers: the bank in which the buffer should be allocated */
} millrace_pl_argument_info;

/* One argument of a call. A buffer extends from the device address that the program passed to the
 * end of the memory that contains this address. */
typedef struct millrace_pl_argument {
  void* data;     /* buffers: the first byte; null for scalars */
  size_t bytes;   /* buffers: the number of bytes */
  uint64_t value; /* scalars: the value in its low bytes, the rest 0; buffers: the device address */
} millrace_pl_argument;

typedef struct millrace_pl_kernel {
  const char* name;
  const millrace_pl_argument_info* arguments;
  size_t argument_count;
  /* Runs the kernel to its end, with `argument_count` arguments. Buffers are the program's memory,
   * and output buffers are writable. Returns 0 on success; otherwise writes a null-terminated text
   * of at most `reason_bytes` bytes to `reason` and returns another value. Called on threads of
   * Millrace, by several at the same time. Must not throw. */
  int (*run)(const millrace_pl_argument* arguments, char* reason, size_t reason_bytes);
  /* Returns how many nanoseconds the kernel takes in programmable logic with these arguments. The
   * run does not end sooner, but later if `run` takes longer. May be null: the run ends with `run`.
   * Called as `run` is, before it. Must not access the bytes of buffers, nor throw. */
  uint64_t (*run_time_ns)(const millrace_pl_argument* arguments);
} millrace_pl_kernel;

typedef struct millrace_pl_kernel_list {
  uint32_t version; /* MILLRACE_PL_KERNELS_VERSION */
  const millrace_pl_kernel* kernels;
  size_t count;
} millrace_pl_kernel_list;

/* The function that a library of kernels exports. */
const millrace_pl_kernel_list* millrace_pl_kernels(void);

#ifdef __cplusplus
}
#endif

#endif /* MILLRACE_PL_KERNEL_H */
