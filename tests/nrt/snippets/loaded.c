/* Is not linked with the library: opens it by name, and takes functions out of it as programs of
   both generations do, by name and, for the older one, by name and version. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <nrt/nrt.h>
#include <nrt/nrt_async.h>
#include <stdio.h>

typedef NRT_STATUS (*old_write)(nrt_tensor_t*, const void*, uint64_t, uint64_t, int,
                                nrta_error_tracker_t*, nrta_seq_t*);
typedef NRT_STATUS (*old_get_sequence)(uint32_t, int, int, nrta_seq_t*);

struct table {
  void* library;
  __typeof__(&nrt_init) init;
  __typeof__(&nrt_close) close;
  __typeof__(&nrt_tensor_allocate) allocate;
  __typeof__(&nrt_tensor_free) free;
  __typeof__(&nrta_tensor_write) write;
  __typeof__(&nrta_tensor_read) read;
  __typeof__(&nrta_get_sequence) get_sequence;
  old_write v2_write;
  old_get_sequence v2_get_sequence;
};

static int load(struct table* table) {
  void* library = dlopen("libnrt.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  table->library = library;
#define LOAD(member, name) *(void**)(&table->member) = dlsym(library, #name)
  LOAD(init, nrt_init);
  LOAD(close, nrt_close);
  LOAD(allocate, nrt_tensor_allocate);
  LOAD(free, nrt_tensor_free);
  LOAD(write, nrta_tensor_write);
  LOAD(read, nrta_tensor_read);
  LOAD(get_sequence, nrta_get_sequence);
  *(void**)(&table->v2_write) = dlvsym(library, "nrta_tensor_write", "NRT_2.0.0");
  *(void**)(&table->v2_get_sequence) = dlvsym(library, "nrta_get_sequence", "NRT_2.0.0");
  return table->init && table->close && table->allocate && table->free && table->write &&
         table->read && table->get_sequence && table->v2_write && table->v2_get_sequence;
}

int main(void) {
  struct table nrt;
  if (!load(&nrt)) return 1;
  if (nrt.init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") != NRT_SUCCESS) return 2;
  nrt_tensor_t* tensor = NULL;
  if (nrt.allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4, NULL, &tensor) != NRT_SUCCESS) return 3;

  /* As a program that was built with the older library: a unit for writes, number 1. */
  const int wrote = 0x01020304;
  nrta_seq_t seq = 0, completed = 0;
  if (nrt.v2_write(tensor, &wrote, 0, 4, 0, NULL, &seq) != NRT_SUCCESS) return 4;
  while (completed < seq)
    if (nrt.v2_get_sequence(0, 1, 0, &completed) != NRT_SUCCESS) return 5;

  int read = 0;
  NRT_STATUS ret = NRT_FAILURE;
  completed = 0;
  if (nrt.read(&read, tensor, 0, 4, 0, 0, &ret, &seq) != NRT_SUCCESS) return 6;
  while (completed < seq)
    if (nrt.get_sequence(0, NRTA_XU_TENSOR_OP, 0, &completed) != NRT_SUCCESS) return 7;
  if (ret != NRT_SUCCESS || read != wrote) return 8;
  nrt.free(&tensor);
  nrt.close();
  /* It stays, since threads of it may run on. */
  dlclose(nrt.library);
  if (dlopen("libnrt.so.1", RTLD_NOW | RTLD_NOLOAD) == NULL) return 9;
  return 0;
}
