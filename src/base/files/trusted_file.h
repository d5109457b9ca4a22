// Checks the files from which Millrace reads code and data that affect results. A file is trusted
// if only the user and root can change or replace it:
//
//   owner            the effective user of the process, or root
//   file             not writable for its group or for others
//   its folder       the same, but it may be sticky, as /tmp is: then only the owner of a file, of
//                    the folder and root can rename or remove the file
//
// A file may be writable for its group if the group id equals the user id of the owner: it is then
// the private group that many systems create for each user, with the umask 002. This is not allowed
// with raised rights. Access control lists count, since the mode shows their mask as that of the
// group.
//
// Thread-safe. Errors are kUnsupported and state the path, the reason and the remedy.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/status.h"

namespace millrace {

// Returns whether the process has more rights than the user who started it (AT_SECURE): it is
// setuid or setgid, or its file has capabilities.
bool has_raised_rights() noexcept;

// Checks an open file and its mode. `path` is used in messages only.
Status check_trusted(const struct stat& file, const std::string& path);
// Checks a folder; OK if it cannot be examined.
Status check_trusted_folder(const std::string& folder);
// Checks the file, its folder and, if the path is a link, the folder of the link as well. OK if
// there is no such file: opening it reports that.
Status check_trusted_path(const std::string& path);

}  // namespace millrace
