#include "cli/bench/remote/name_lookup.h"

#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/process/thread.h"

namespace millrace::cli {

Result<Endpoints> look_up(const std::string& host, const std::string& port) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::resolver resolver(io);
  boost::system::error_code error;
  const auto found = resolver.resolve(host, port, error);
  if (error) return Status(StatusCode::kNotFound, error.message());
  Endpoints endpoints;
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  return endpoints;
}

Result<Endpoints> within(std::chrono::milliseconds limit,
                         std::function<Result<Endpoints>()> function) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<Result<Endpoints>> result;
  };
  const auto shared = std::make_shared<Shared>();
  auto thread = start_thread("millrace-lookup", [shared, function = std::move(function)] {
    Result<Endpoints> result = function();
    const std::lock_guard lock(shared->mutex);
    shared->result = std::move(result);
    shared->done.notify_all();
  });
  MILLRACE_RETURN_IF_ERROR(thread.status());
  thread->detach();
  std::unique_lock lock(shared->mutex);
  if (!shared->done.wait_for(lock, limit, [&] { return shared->result.has_value(); }))
    return Status(StatusCode::kDeadlineExceeded, "no answer in time");
  return *std::move(shared->result);
}

}  // namespace millrace::cli
