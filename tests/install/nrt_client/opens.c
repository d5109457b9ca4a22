// A client that finds the library at run time, and has none of its headers.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include "loaded_files.h"

int main(int argc, char** argv) {
  void* library = dlopen(argc > 1 ? argv[1] : "libnrt.so.1", RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  unsigned (*init)(int, const char*, const char*) = dlsym(library, "nrt_init");
  unsigned (*count)(uint32_t*) = dlsym(library, "nrt_get_visible_nc_count");
  void (*close)(void) = dlsym(library, "nrt_close");
  uint32_t cores = 0;
  if (init == NULL || count == NULL || close == NULL || init(1, "", "") != 0 || count(&cores) != 0)
    return 1;
  printf("%s\n", cores > 0 ? "has cores" : "no cores");
  print_loaded_files();
  close();
  return 0;
}
