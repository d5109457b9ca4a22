// The version of the library that a program runs with.
#ifndef NRT_NRT_VERSION_H
#define NRT_NRT_VERSION_H

#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt_status.h"

#define RT_VERSION_DETAIL_LEN 128
#define GIT_HASH_LEN 64

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nrt_version {
  uint64_t rt_major;  // of the interface that is provided, for version checks of programs
  uint64_t rt_minor;
  uint64_t rt_patch;
  uint64_t rt_maintenance;
  char rt_detail[RT_VERSION_DETAIL_LEN];  // says which implementation this is; ends in NUL
  char git_hash[GIT_HASH_LEN];            // ends in NUL; may be empty
} nrt_version_t;

#pragma GCC visibility push(default)

// Writes the first `size` bytes of the version, at most all of it. Thread-safe; works at any time,
// also before nrt_init. NULL: NRT_INVALID.
NRT_STATUS nrt_get_version(nrt_version_t* ver, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_NRT_VERSION_H
