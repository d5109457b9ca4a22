// Which files Millrace takes code, and what it computes with, from. A file is trusted when nobody
// but the user and root can change it or put another in its place:
//
//   owner            the effective user of the process, or root
//   file             not writable for its group or for others
//   its folder       the same, but it may be sticky, as /tmp is: then only the owner of a file, of
//                    the folder and root can rename or remove the file
//
// Writable for the group is allowed where the group has the number of the owner: then it is the
// private group that many systems give each user, and their umask is 002. It is not allowed with
// raised rights. Access control lists count, since the mode shows their mask as that of the group.
//
// Thread-safe. Errors are kUnsupported, say what is wrong and the remedy, and name the path.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/status.h"

namespace millrace {

// Whether the process has more rights than the user who started it (AT_SECURE): it is setuid or
// setgid, or its file has capabilities.
bool has_raised_rights() noexcept;

// `path` is for messages.
Status check_trusted(const struct stat& file, const std::string& path);
Status check_trusted_folder(const std::string& folder);
// The file, the folder that it lies in and, where the path is a link, that of the link. OK where
// there is no such file: who opens it finds that out.
Status check_trusted_path(const std::string& path);

}  // namespace millrace
