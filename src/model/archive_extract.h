// From the file form of an archive to the directory form, without decoding it.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "model/archive_writer.h"

namespace millrace::model {

// Makes `directory` hold the archive at `file`, with these side files, which the caller takes from
// its decoded content: makes the directory if there is none, leaves other files in it alone, and
// does nothing when the same is there already, byte for byte. What another archive has there goes;
// each part is replaced at one go where the file system can exchange two names, so that several
// processes may do this at the same time (with different archives, one's side files may then lie
// beside the other's vaiml_par_0). True when it has written.
//
// kCorruptData when `file` is no archive in file form; kInvalidArgument when a part is to have the
// name of something that is none; kNotFound or kIoError when the operating system refuses.
Result<bool> extract_archive(const std::string& file, const std::string& directory,
                             const std::vector<SideFile>& side_files = {});

}  // namespace millrace::model
