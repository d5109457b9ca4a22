// From the file form of an archive to the directory form, without decoding it.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::model {

// Makes `directory` hold the archive at `file`, as `directory`/vaiml_par_0 with what readers need,
// not with the JSON for people: makes the directory if there is none, leaves other files in it
// alone, and does nothing when the same archive is there already, byte for byte. Another archive is
// replaced, at one go where the file system can exchange two names, so that several processes may
// do this at the same time. True when it has written.
//
// kCorruptData when `file` is no archive in file form; kInvalidArgument when vaiml_par_0 is there
// and no archive; kNotFound or kIoError when the operating system refuses.
Result<bool> extract_archive(const std::string& file, const std::string& directory);

}  // namespace millrace::model
