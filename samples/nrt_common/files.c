#include "files.h"

#include <errno.h>
#include <fcntl.h>
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

// A named pipe that nobody writes to is empty rather than a file to wait for; one that somebody
// writes to is waited for.
static FILE* open_to_read(const char* path) {
  const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return NULL;
  fcntl(descriptor, F_SETFL, O_RDONLY);
  FILE* file = fdopen(descriptor, "rb");
  if (file == NULL) close(descriptor);
  return file;
}

void* read_file(const char* path, size_t* size) {
  FILE* file = open_to_read(path);
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

// Closes the file.
static bool fill(FILE* file, const void* bytes, size_t size) {
  const size_t written = fwrite(bytes, 1, size, file);
  return fclose(file) == 0 && written == size;
}

// A short name in the same folder, since that of the file may be as long as a name can be.
static bool name_temporary(const char* path, char* name, size_t capacity) {
  const char* const slash = strrchr(path, '/');
  const int folder = slash == NULL ? 0 : (int)(slash + 1 - path);
  const int length = snprintf(name, capacity, "%.*s.unfinished-%ld", folder, path, (long)getpid());
  errno = ENAMETOOLONG;
  return length > 0 && (size_t)length < capacity;
}

// A device or a pipe is written to; a file must not take its place.
static bool is_replaceable(const char* path) {
  struct stat status;
  return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

static int write_into(const char* path, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) return complain("open", path);
  return fill(file, bytes, size) ? 0 : complain("write", path);
}

int write_file(const char* path, const void* bytes, size_t size) {
  if (!is_replaceable(path)) return write_into(path, bytes, size);
  char temporary[4096];
  if (!name_temporary(path, temporary, sizeof temporary)) return complain("create", path);
  FILE* file = fopen(temporary, "wb");
  if (file == NULL) return complain("create", path);
  if (fill(file, bytes, size) && rename(temporary, path) == 0) return 0;
  complain("write", path);
  remove(temporary);
  return -1;
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
