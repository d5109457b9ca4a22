// Converts the file form of an archive to the directory form, without decoding it.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "model/archive_writer.h"

namespace millrace::model {

// Makes `directory` contain the archive at `file`, with these side files, which the caller makes
// from the decoded content. Creates the directory if it does not exist, leaves unrelated files in
// it unchanged, and does nothing when it has the same content already, byte for byte. Parts of
// another archive are removed. Each part is replaced atomically where the file system can exchange
// two names, so that several processes may do this at the same time (with different archives, the
// side files of one may then lie beside vaiml_par_0 of the other). Returns true when it has written
// anything.
//
// kCorruptData when `file` is not an archive in file form; kInvalidArgument when the name of a part
// belongs to something that is not a part; kNotFound or kIoError when the operating system refuses.
Result<bool> extract_archive(const std::string& file, const std::string& directory,
                             const std::vector<SideFile>& side_files = {});

}  // namespace millrace::model
