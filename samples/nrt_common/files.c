#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char* what, const char* path) {
  fprintf(stderr, "Error: cannot %s %s: %s\n", what, path, strerror(errno));
  return -1;
}

void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return complain("open", path), NULL;
  void* bytes = NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    const long length = ftell(file);
    rewind(file);
    bytes = length < 0 ? NULL : malloc((size_t)length + 1);
    if (bytes != NULL && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
      free(bytes);
      bytes = NULL;
    }
    *size = (size_t)length;
  }
  if (bytes == NULL) complain("read", path);
  fclose(file);
  return bytes;
}

int write_file(const char* path, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) return complain("create", path);
  const size_t written = fwrite(bytes, 1, size, file);
  if (fclose(file) != 0 || written != size) return complain("write", path);
  return 0;
}
