// The table uses POSIX record locks (fcntl): one on each record that is in use, and one on a byte
// far behind the records for the turn of a process.
#include "runtime/columns/column_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/files/own_descriptor.h"
#include "base/files/trusted_file.h"
#include "base/format_status.h"
#include "base/never_destroyed.h"
#include "base/settings/environment.h"
#include "base/unique_fd.h"
#include "runtime/columns/columns.h"

namespace millrace::runtime {
namespace {

constexpr uint32_t kMagic = 0x3143524d;  // "MRC1"; 0 in a record without a claim
// The maximum number of records: more than a user has sessions. It limits how much of a damaged
// file is read.
constexpr uint32_t kMostRecords = 16'384;
// The offset of the byte that is locked during a turn, far beyond the last record.
constexpr off_t kTurnByte = off_t{1} << 40;
constexpr auto kTurnPatience = std::chrono::seconds(1);
constexpr auto kTurnPause = std::chrono::milliseconds(1);

struct Record {
  uint32_t magic = 0;
  uint32_t start_column = 0;
  uint16_t exclusive = 0;
  uint16_t columns = 0;  // 0 in records of an earlier version, in which all claims were of a group
  uint32_t holder_bytes = 0;
  std::array<char, 240> holder{};
};
static_assert(sizeof(Record) == 256);

off_t offset_of(uint32_t record) {
  return static_cast<off_t>(record) * static_cast<off_t>(sizeof(Record));
}

struct flock lock_on(off_t begin, off_t bytes, short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = begin;
  lock.l_len = bytes;
  return lock;
}

bool set_lock(int fd, off_t begin, off_t bytes, short type) noexcept {
  struct flock lock = lock_on(begin, bytes, type);
  return ::fcntl(fd, F_SETLK, &lock) == 0;
}

// Returns the process that has locked the record; nothing if it is free or locked by this process.
std::optional<pid_t> locked_by(int fd, uint32_t record) noexcept {
  struct flock lock = lock_on(offset_of(record), sizeof(Record), F_WRLCK);
  if (::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  return lock.l_pid;
}

Status unusable(std::string why) {
  return {StatusCode::kIoError, std::move(why)};
}

bool write_record(int fd, uint32_t record, const Record& content) noexcept {
  return ::pwrite(fd, &content, sizeof(content), offset_of(record)) == sizeof(content);
}

uint32_t records_in(int fd) noexcept {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return 0;
  return static_cast<uint32_t>(
      std::min<off_t>(info.st_size / static_cast<off_t>(sizeof(Record)), kMostRecords));
}

std::vector<Record> read_records(int fd) {
  std::vector<Record> records(records_in(fd));
  const size_t bytes = records.size() * sizeof(Record);
  const ssize_t taken = ::pread(fd, records.data(), bytes, 0);
  records.resize(taken < 0 ? 0 : static_cast<size_t>(taken) / sizeof(Record));
  return records;
}

uint32_t columns_in(const Record& record) {
  return record.columns == 0 ? kColumnsPerGroup : record.columns;
}

std::string holder_in(const Record& record, pid_t process) {
  const size_t bytes = std::min<size_t>(record.holder_bytes, record.holder.size());
  return fmt::format("{} of process {}", std::string_view(record.holder.data(), bytes), process);
}

// Returns whether the content can be that of a table: claims must not overwrite other files of the
// user.
bool is_table(int fd, off_t bytes) {
  const std::vector<Record> records = read_records(fd);
  return bytes % static_cast<off_t>(sizeof(Record)) == 0 &&
         std::ranges::all_of(records, [](const Record& record) {
           return record.magic == kMagic || record.magic == 0;
         });
}

// Checks that the file is a table, and that no other user owns it or can write to it: such a user
// could decide which sessions get columns.
Status check_table(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return unusable(fmt::format("{}: {}", path, error_text(errno)));
  MILLRACE_RETURN_IF_ERROR(check_trusted(info, path));
  if (info.st_uid != ::geteuid()) return unusable(path + " does not belong to this user");
  return is_table(fd, info.st_size)
             ? Status()
             : unusable(path + " is not a table of columns, and is left unchanged");
}

}  // namespace

const Result<ColumnTable*>& ColumnTable::of_process() {
  static NeverDestroyed<Result<ColumnTable*>> table([]() -> Result<ColumnTable*> {
    const std::string_view path = environment_variable("MILLRACE_COLUMN_TABLE");
    if (path == "off") return nullptr;
    return open(path.empty() ? fmt::format("/dev/shm/millrace-columns-{}", ::geteuid())
                             : std::string(path));
  }());
  return table.get();
}

Result<ColumnTable*> ColumnTable::open(const std::string& path) {
  UniqueFd fd = own_descriptor(::open(
      path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
  if (!fd) return unusable(fmt::format("{}: {}", path, error_text(errno)));
  MILLRACE_RETURN_IF_ERROR(check_table(fd.get(), path));
  auto* const table = new ColumnTable;  // never destroyed, since its file must not be closed
  table->identity_ = identity_of(fd.get());
  table->fd_ = fd.release();
  return table;
}

// Returns whether the descriptor still refers to the table, and the file still has a name. Programs
// may close all descriptors and open other files with the same numbers. A login manager may remove
// the file at the last logout; then new processes do not find it.
bool ColumnTable::is_intact() const noexcept {
  struct stat info = {};
  return ::fstat(fd_, &info) == 0 && identity_.is(info) && info.st_nlink == 1;
}

// Polls, because the system call that waits for such a lock (F_SETLKW) has no timeout.
bool ColumnTable::lock_turn() const noexcept {
  const auto limit = std::chrono::steady_clock::now() + kTurnPatience;
  while (!set_lock(fd_, kTurnByte, 1, F_WRLCK)) {
    const bool taken = errno == EACCES || errno == EAGAIN;
    if (!taken || std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(kTurnPause);
  }
  return true;
}

ColumnTable::Turn::Turn() {
  const Result<ColumnTable*>& table = of_process();
  if (!table.ok())
    failure_ = table.status();
  else if (*table != nullptr && !(*table)->is_intact())
    failure_ = unusable("the table of columns was closed or removed");
  else if (*table != nullptr && !(*table)->lock_turn())
    failure_ = unusable("the table of columns cannot be locked");
  else
    table_ = *table;
}

ColumnTable::Turn::~Turn() {
  if (table_ != nullptr) set_lock(table_->fd_, kTurnByte, 1, F_UNLCK);
}

std::vector<ColumnUse> ColumnTable::Turn::foreign() const {
  std::vector<ColumnUse> uses;
  if (table_ == nullptr) return uses;
  const std::vector<Record> records = read_records(table_->fd_);
  for (uint32_t i = 0; i < records.size(); ++i) {
    if (records[i].magic != kMagic) continue;
    if (const std::optional<pid_t> process = locked_by(table_->fd_, i))
      uses.push_back({records[i].start_column, columns_in(records[i]), records[i].exclusive != 0,
                      holder_in(records[i], *process)});
  }
  return uses;
}

// Returns the first free record. Records of processes that have ended are free, too.
uint32_t ColumnTable::first_free_record() const {
  uint32_t record = 0;
  while ((record < own_.size() && own_[record]) || locked_by(fd_, record)) ++record;
  return record;
}

std::optional<uint32_t> ColumnTable::Turn::add(const ColumnUse& use) {
  if (table_ == nullptr) return std::nullopt;
  const uint32_t number = table_->first_free_record();
  table_->own_.resize(std::max<size_t>(table_->own_.size(), number + 1));
  Record record{kMagic, use.start_column, static_cast<uint16_t>(use.exclusive ? 1 : 0),
                static_cast<uint16_t>(use.columns)};
  record.holder_bytes = static_cast<uint32_t>(std::min(use.holder.size(), record.holder.size()));
  std::memcpy(record.holder.data(), use.holder.data(), record.holder_bytes);
  const bool locked =
      number < kMostRecords && set_lock(table_->fd_, offset_of(number), sizeof(Record), F_WRLCK);
  if (locked && write_record(table_->fd_, number, record)) {
    table_->own_[number] = true;
    return number;
  }
  if (locked) set_lock(table_->fd_, offset_of(number), sizeof(Record), F_UNLCK);
  failure_ = unusable("the table of columns is full or cannot be written");
  return std::nullopt;
}

// NOLINTNEXTLINE(bugprone-exception-escape): see the header.
void ColumnTable::remove(uint32_t record) noexcept {
  ColumnTable& table = **of_process();
  table.own_[record] = false;
  if (!table.is_intact()) return;
  write_record(table.fd_, record, {});
  set_lock(table.fd_, offset_of(record), sizeof(Record), F_UNLCK);
}

}  // namespace millrace::runtime
