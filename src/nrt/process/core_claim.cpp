#include "nrt/process/core_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "base/files/own_descriptor.h"
#include "base/files/trusted_file.h"
#include "base/settings/environment.h"

namespace millrace::nrt {
namespace {

constexpr const char* kExclusiveCores = "MILLRACE_NRT_EXCLUSIVE_CORES";

struct flock lock_of(const CoreRange& cores, short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(cores.first);
  lock.l_len = static_cast<off_t>(cores.count);
  return lock;
}

// Locks all of the cores or none. Returns false if another process has one of them.
Result<bool> try_lock(int fd, const CoreRange& cores) {
  struct flock lock = lock_of(cores, F_WRLCK);
  if (::fcntl(fd, F_SETLK, &lock) == 0) return true;
  if (errno == EACCES || errno == EAGAIN) return false;
  return io_error("the lock of cores", errno);
}

// Returns the other process that has the core.
std::optional<pid_t> holder_of(int fd, uint32_t core) noexcept {
  struct flock lock = lock_of({core, 1}, F_WRLCK);
  if (::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  return lock.l_pid;
}

// Says which cores are taken. Programs and their logs know the words before the colon.
Status not_available(int fd, const CoreRequest& request) {
  const CoreRange all = request.anywhere ? CoreRange{0, request.all_cores} : request.cores;
  uint32_t available = 0;
  std::string holders;
  for (uint32_t core = all.first; core < all.first + all.count; ++core) {
    const std::optional<pid_t> holder = holder_of(fd, core);
    if (!holder)
      ++available;
    else
      holders += fmt::format("{}core {} by process {}", holders.empty() ? "" : ", ", core, *holder);
  }
  const std::string requested =
      request.anywhere ? fmt::format("{}", request.cores.count)
                       : fmt::format("nc{}-nc{}", all.first, all.first + all.count - 1);
  return {StatusCode::kBusy,
          fmt::format("NeuronCore(s) not available - Requested:{} Available:{}: in use are {} ({})",
                      requested, available, holders, kExclusiveCores)};
}

Result<UniqueFd> open_core_file(const std::string& path) {
  UniqueFd file = own_descriptor(::open(
      path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
  if (!file) return io_error(path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return io_error(path, errno);
  if (!S_ISREG(info.st_mode)) return Status(StatusCode::kIoError, path + " is no regular file");
  MILLRACE_RETURN_IF_ERROR(check_trusted(info, path));
  return file;
}

}  // namespace

// Closing the file releases the locks. A descriptor that is no longer this file belongs to the
// program, which has closed this one.
CoreClaim::~CoreClaim() {
  if (file_ && identity_of(file_.get()) != identity_) file_.release();
}

Result<CoreClaim> CoreClaim::make(const std::string& path, const CoreRequest& request) {
  CoreClaim claim;
  Result<UniqueFd> file = open_core_file(path);
  if (!file.ok()) return file.status().with_context(kExclusiveCores);
  claim.file_ = *std::move(file);
  claim.identity_ = identity_of(claim.file_.get());
  const uint32_t count = request.cores.count;
  const uint32_t last = request.anywhere ? request.all_cores - count : request.cores.first;
  for (uint32_t first = request.anywhere ? 0 : request.cores.first; first <= last; ++first) {
    MILLRACE_ASSIGN_OR_RETURN(const bool locked, try_lock(claim.file_.get(), {first, count}));
    if (!locked) continue;
    claim.cores_ = {first, count};
    return claim;
  }
  return not_available(claim.file_.get(), request);
}

Result<std::string> exclusive_core_file() {
  const std::string_view text = environment_variable(kExclusiveCores);
  if (text.empty() || text == "0") return std::string();
  if (text == "1") return fmt::format("/dev/shm/millrace-nrt-cores-{}", ::geteuid());
  if (text.starts_with('/')) return std::string(text);
  return invalid_argument(
      fmt::format("{} is \"{}\": it takes 0, 1 or the absolute path of a file that the processes "
                  "of one machine share",
                  kExclusiveCores, text));
}

}  // namespace millrace::nrt
