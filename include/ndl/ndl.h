// The devices of this machine and the processes that use them, for programs that watch them. This
// is the part of the vendor's driver library that the software NPU can answer; the part that drives
// hardware (registers, rings, semaphores, memory by address) is not declared.
//
// A device stands for up to eight logical cores: there are as few devices as have equally many
// cores each. The calls need no nrt_init, may be called by any thread, and return 0, or -1 for a
// failure, whose reason is logged.
#ifndef NDL_NDL_H
#define NDL_NDL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ndl/neuron_driver_shared.h"

#define MAX_NEURON_DEVICE_COUNT 64
#define NEURON_MAX_DEVICES MAX_NEURON_DEVICE_COUNT
#define MAX_NC_PER_DEVICE 8
#define MAX_HBM_PER_DEVICE 4
#define NEURON_DEVICE_PREFIX "/dev/neuron"  // no such file exists here
#define NEURON_DRIVER_LIBRARY_MAJOR 1
#define NEURON_DRIVER_LIB_MINOR 0
#define DRIVER_VERSION_MAX_SIZE 32
#define NDL_COPY_BUF_SIZE (2ull * 1024 * 1024)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ndl_version_info {
  uint16_t driver_major_version;
  uint16_t driver_minor_version;
  char driver_full_version[DRIVER_VERSION_MAX_SIZE];  // ends in NUL
  uint16_t library_major_version;
  uint16_t library_minor_version;
} ndl_version_info_t;

// How to open a device. The software NPU ignores all of it.
typedef struct ndl_device_init_param {
  bool initialize_device;
  int num_dram_regions;
  bool map_hbm;
} ndl_device_init_param_t;

typedef struct ndl_copy_buf {
  uint64_t mem_handle;
  void* mmap_va;
  pthread_mutex_t lock;
} ndl_copy_buf_t;

// C++ has arrays of open length as an extension only.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-extensions"
#endif
// A device that was opened. Only the commented fields mean something here; the others are zeros.
typedef struct ndl_device {
  uint8_t device_index;
  uint8_t device_type;  // 0: none of the vendor's
  uint16_t device_revision;
  uint8_t connected_device_count;
  uint8_t connected_devices[MAX_NEURON_DEVICE_COUNT];
  uint64_t csr_base[2];
  uint64_t csr_size[2];
  ndl_copy_buf_t cpy_bufs[MAX_NC_PER_DEVICE];
  void* hbm_va[MAX_HBM_PER_DEVICE];
  size_t hbm_size;  // bytes of memory that the cores of the device have
  uint32_t hbm_va_cnt;
  uint32_t shift_hbm_size;
  uint64_t hbm_offset[MAX_HBM_PER_DEVICE];
  __extension__ uint8_t context[];  // the library's
} ndl_device_t;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#pragma GCC visibility push(default)

// The versions of driver and library, which are both Millrace.
int ndl_get_version(ndl_version_info_t* version);
int ndl_get_compatible_version(uint32_t* min_compatible_version, uint32_t* max_compatible_version);

// Stores the indexes of the devices, at most `device_indexes_size` of them, and returns how many it
// stored.
int ndl_available_devices(int* device_indexes, int device_indexes_size);

// Opens a device, of which the caller frees the description with ndl_close_device. `params` may be
// NULL.
int ndl_open_device(int device_index, ndl_device_init_param_t* params, ndl_device_t** device);
int ndl_close_device(ndl_device_t* device);

// Describes the processes of this user in which NRT runs on cores of the device, as an array that
// the caller frees with free(); NULL if there are none. `apps_info_flags` says what to find out
// about them: the cores (APP_INFO_PID_NC_LOCK_INFO), the memory (APP_INFO_PID_MEM_USAGE).
int ndl_get_all_apps_info(ndl_device_t* device, struct neuron_app_info** info, size_t* count,
                          uint16_t apps_info_flags);

// The architecture and the revision of the board: 0 and 0, none of the vendor's.
int ndl_get_board_info(uint32_t* architecture, uint32_t* revision);

// The host's number for a device: its index.
int ndl_get_host_device_id(ndl_device_t* device, uint32_t* host_device_id);

// The PCI address of a device. The software NPU has none: -1.
int ndl_get_device_bdf(int device_index, uint32_t* bus_num, uint8_t* pci_slot, uint8_t* dev_func);
int ndl_get_device_bdf_ext(int device_index, uint32_t* domain, uint32_t* bus_num, uint8_t* pci_slot,
                           uint8_t* dev_func);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NDL_NDL_H
