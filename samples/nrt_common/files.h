// Whole files, for the NRT samples.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The bytes of the file, the caller's to free(); NULL, with a line on standard error, when it
// cannot be read.
void* read_file(const char* path, size_t* size);
// 0, or -1 with a line on standard error; then a file that has the name stays as it is, and nothing
// else is left.
int write_file(const char* path, const void* bytes, size_t size);
// Whether files can be made in the folder; if not, with a line on standard error.
bool is_writable_folder(const char* path);
