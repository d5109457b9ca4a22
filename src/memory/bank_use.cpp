#include "memory/bank_use.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "memory/mapping.h"

namespace millrace::memory {
namespace {

struct File {
  std::string bank;
  uint64_t bytes = 0;  // offset of the end of the last mapped part
};
using Files = std::map<std::pair<std::string, uint64_t>, File>;  // by device and inode

// Returns the bank, "DDR0", of a path "/memfd:millrace:DDR0 (deleted)" or "/dmabuf:millrace:DDR0";
// empty for any other path.
std::string_view bank_in(std::string_view path) {
  if (!path.starts_with("/memfd:") && !path.starts_with("/dmabuf:")) return {};
  path.remove_prefix(path.find(':') + 1);
  if (!path.starts_with(kBankFilePrefix)) return {};
  path.remove_prefix(kBankFilePrefix.size());
  return path.substr(0, path.find(' '));
}

// Reads a line of /proc/PID/maps, such as
// "7f01000-7f03000 rw-s 00000000 00:01 1234   /memfd:millrace:DDR0 (deleted)".
void read_line(const std::string& line, Files& files) {
  const size_t path = line.find('/');
  if (path == std::string::npos) return;
  const std::string_view bank = bank_in(std::string_view(line).substr(path));
  if (bank.empty()) return;
  std::istringstream words(line);
  uint64_t begin = 0, end = 0, offset = 0, inode = 0;
  char dash = 0;
  std::string access, device;
  words >> std::hex >> begin >> dash >> end >> access >> offset >> device >> std::dec >> inode;
  if (!words) return;
  File& file = files[{device, inode}];
  file.bank = bank;
  file.bytes = std::max(file.bytes, offset + (end - begin));
}

bool is_process_of_this_user(const std::filesystem::path& folder) {
  const std::string name = folder.filename();
  struct stat info = {};
  return name.find_first_not_of("0123456789") == std::string::npos &&
         ::stat(folder.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

}  // namespace

std::map<std::string, uint64_t> bank_use_of_all_processes() {
  Files files;
  std::error_code ignored;  // a process may end while its entry is read
  for (auto entry = std::filesystem::directory_iterator("/proc", ignored);
       !ignored && entry != std::filesystem::directory_iterator(); entry.increment(ignored)) {
    if (!is_process_of_this_user(entry->path())) continue;
    std::ifstream maps(entry->path() / "maps");
    for (std::string line; std::getline(maps, line);) read_line(line, files);
  }
  std::map<std::string, uint64_t> use;
  for (const auto& [key, file] : files) use[file.bank] += file.bytes;
  return use;
}

}  // namespace millrace::memory
