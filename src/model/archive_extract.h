// Converts an archive from the file form to the directory form, without decoding it. Thread-safe,
// also among processes.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "model/archive_writer.h"

namespace millrace::model {

// Writes the directory form of the archive at `file` to `directory`, together with side files,
// which the caller makes from the decoded contents. Creates a missing directory, and leaves
// unrelated files unchanged. Parts that exist with the same bytes are not written again; parts of
// another archive are removed. Each part is replaced atomically if the file system can exchange two
// names, so that several processes may do this at the same time; with different archives, the
// directory may then have vaiml_par_0 of one and side files of the other. Returns true if anything
// was written.
//
// kCorruptData when `file` is not an archive in file form; kInvalidArgument when the name of a part
// belongs to something that is not a part; kNotFound or kIoError when the operating system refuses.
Result<bool> extract_archive(const std::string& file, const std::string& directory,
                             const std::vector<SideFile>& side_files = {});

}  // namespace millrace::model
