#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int complain(const char* what, const char* path) {
  fprintf(stderr, "Error: cannot %s %s: %s\n", what, path, strerror(errno));
  return -1;
}

// A file's length is not asked for: a pipe has none.
static bool read_all(FILE* file, unsigned char** bytes, size_t* size) {
  for (size_t capacity = 65536;; capacity *= 2) {
    unsigned char* const larger = realloc(*bytes, capacity);
    if (larger == NULL) return false;
    *bytes = larger;
    *size += fread(larger + *size, 1, capacity - *size, file);
    if (*size < capacity) return !ferror(file);
  }
}

void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return complain("open", path), NULL;
  unsigned char* bytes = NULL;
  *size = 0;
  if (!read_all(file, &bytes, size)) {
    complain("read", path);
    free(bytes);
    bytes = NULL;
  }
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

bool is_writable_folder(const char* path) {
  struct stat status;
  if (stat(path, &status) == 0) {
    if (S_ISDIR(status.st_mode) && access(path, W_OK | X_OK) == 0) return true;
    if (!S_ISDIR(status.st_mode)) errno = ENOTDIR;
  }
  complain("write into", path);
  return false;
}
