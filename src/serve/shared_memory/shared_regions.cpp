#include "serve/shared_memory/shared_regions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace millrace::serve {
namespace {

constexpr uint64_t kMostOffset = uint64_t{std::numeric_limits<off_t>::max()};

// Whether a part lies within a whole, without sums that overflow.
bool is_within(uint64_t offset, uint64_t bytes, uint64_t whole) {
  return offset <= whole && bytes <= whole - offset;
}

// 0 if the system does not say.
uint64_t size_of_object(int descriptor) {
  struct stat file {};
  if (::fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode)) return 0;
  return static_cast<uint64_t>(file.st_size);
}

// Something else that has such a name could make the call wait, without O_NONBLOCK.
Result<UniqueFd> open_object(const std::string& key) {
  UniqueFd object(::shm_open(key.c_str(), O_RDWR | O_NONBLOCK, 0));
  const int reason = errno;
  if (object) return object;
  const std::string what = fmt::format("open the shared memory object \"{}\"", key);
  return invalid_argument(io_error(what, reason).message());
}

}  // namespace

Result<std::shared_ptr<const SharedRegion>> SharedRegion::open(std::string name, std::string key,
                                                               uint64_t offset, uint64_t bytes) {
  if (bytes == 0 || !is_within(offset, bytes, kMostOffset))
    return invalid_argument(fmt::format("a region of {} bytes at {} is none", bytes, offset));
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd object, open_object(key));
  const uint64_t size = size_of_object(object.get());
  if (!is_within(offset, bytes, size))
    return invalid_argument(
        fmt::format("the shared memory object \"{}\" has {} bytes, and the region {} bytes at {}",
                    key, size, bytes, offset));
  return std::shared_ptr<const SharedRegion>(
      new SharedRegion(std::move(name), std::move(key), offset, bytes, std::move(object)));
}

Status SharedRegion::check(uint64_t at, uint64_t bytes) const {
  if (is_within(at, bytes, bytes_)) return {};
  return invalid_argument(fmt::format("the shared memory region \"{}\" has {} bytes, not {} at {}",
                                      name_, bytes_, bytes, at));
}

Status SharedRegion::too_short() const {
  return invalid_argument(
      fmt::format("the shared memory region \"{}\" has been made shorter", name_));
}

Status SharedRegion::read(uint64_t at, std::span<std::byte> to) const {
  MILLRACE_RETURN_IF_ERROR(check(at, to.size()));
  auto from = static_cast<off_t>(offset_ + at);
  while (!to.empty()) {
    const ssize_t got = ::pread(object_.get(), to.data(), to.size(), from);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(fmt::format("read the shared memory region {}", name_), errno);
    if (got == 0) return too_short();
    to = to.subspan(static_cast<size_t>(got));
    from += got;
  }
  return {};
}

// A write behind the end would make the object longer again.
Status SharedRegion::write(uint64_t at, std::span<const std::byte> from) const {
  MILLRACE_RETURN_IF_ERROR(check(at, from.size()));
  if (!is_within(offset_ + at, from.size(), size_of_object(object_.get()))) return too_short();
  auto to = static_cast<off_t>(offset_ + at);
  while (!from.empty()) {
    const ssize_t put = ::pwrite(object_.get(), from.data(), from.size(), to);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return io_error(fmt::format("write the shared memory region {}", name_), errno);
    from = from.subspan(static_cast<size_t>(put));
    to += put;
  }
  return {};
}

Status SharedRegions::add(const std::string& name, const std::string& key, uint64_t offset,
                          uint64_t bytes) {
  if (name.empty()) return invalid_argument("the shared memory region has no name");
  MILLRACE_ASSIGN_OR_RETURN(auto region, SharedRegion::open(name, key, offset, bytes));
  const std::lock_guard lock(mutex_);
  if (regions_.contains(name))
    return invalid_argument(fmt::format("there is a shared memory region \"{}\" already", name));
  if (regions_.size() == kMost)
    return {StatusCode::kResourceExhausted,
            fmt::format("there are {} shared memory regions, which is the most", kMost)};
  regions_.emplace(name, std::move(region));
  return {};
}

void SharedRegions::remove(std::string_view name) {
  decltype(regions_) removed;  // closed without the lock
  const std::lock_guard lock(mutex_);
  if (name.empty()) return removed.swap(regions_);
  if (const auto found = regions_.find(name); found != regions_.end())
    removed.insert(regions_.extract(found));
}

std::shared_ptr<const SharedRegion> SharedRegions::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(name);
  return found == regions_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const SharedRegion>> SharedRegions::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const SharedRegion>> all;
  for (const auto& [name, region] : regions_) all.push_back(region);
  return all;
}

}  // namespace millrace::serve
