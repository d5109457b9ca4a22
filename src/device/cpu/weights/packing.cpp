#include "device/cpu/weights/packing.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/align.h"
#include "device/cpu/openmp/openmp.h"
#include "device/cpu/weights/constant_numbers.h"
#include "queue/lanes/shared_loop.h"

namespace millrace::device::cpu {
namespace {

// Below this a lane would come too late to be of use.
constexpr size_t kWorthALane = size_t{1} << 20;

// Runs `work` for each of `count` tasks, on as many threads as come.
class Tasks {
 public:
  // `order` has the numbers of the tasks.
  Tasks(std::vector<size_t> order, std::function<Status(size_t)> work)
      : order_(std::move(order)), work_(std::move(work)) {}

  void take() noexcept {
    const OpenMpThreads one_thread;
    const Status status = guarded([this]() -> Status {
      for (size_t i = next_++; i < order_.size(); i = next_++)
        MILLRACE_RETURN_IF_ERROR(work_(order_[i]));
      return {};
    });
    if (status.ok()) return;
    const std::lock_guard lock(mutex_);
    status_ = status;
  }

  // After all threads have returned from take().
  const Status& status() const noexcept { return status_; }

 private:
  const std::vector<size_t> order_;
  const std::function<Status(size_t)> work_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  Status status_;
};

void pack(const graph::Value& constant, const Desc& from, const Desc& to, std::byte* data,
          const dnnl::engine& engine) {
  std::vector<float> numbers;
  const void* elements = constant.constant->bytes.data();
  if (from.data_type() == ElementType::f32 && constant.type != tensor::DataType::kFloat32) {
    numbers = constant_numbers(constant);
    elements = numbers.data();
  }
  dnnl::stream stream(engine);
  dnnl::memory source(from, engine, const_cast<void*>(elements));
  dnnl::memory target(to, engine, data);
  dnnl::reorder(source, target).execute(stream, source, target);
}

}  // namespace

void Packing::add(const graph::Value& constant, const Desc& from, const Desc& to, BufferId buffer) {
  const size_t bytes = to.get_size();
  const size_t offset = align_up(bytes_, ConstantMemory::alignment_of(bytes));
  items_.push_back({&constant, from, to, buffer, offset});
  bytes_ = offset + bytes;
}

Status Packing::run(queue::Lanes& lanes, const dnnl::engine& engine, ConstantMemory& constants,
                    BufferLayout& layout) const {
  if (items_.empty()) return {};
  std::byte* const block = constants.take(bytes_);
  for (const Item& item : items_) layout.locations[item.buffer].constant = block + item.offset;
  // Large ones first, so that all threads are done at about the same time.
  std::vector<size_t> order(items_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [this](size_t i) { return items_[i].to.get_size(); });
  Tasks tasks(std::move(order), [&](size_t i) -> Status {
    const Item& item = items_[i];
    pack(*item.constant, item.from, item.to, block + item.offset, engine);
    return {};
  });
  const auto take = [&tasks](uint32_t, uint32_t) { tasks.take(); };
  if (bytes_ >= kWorthALane)
    if (const auto loop = queue::SharedLoop::create(lanes); loop.ok())
      (*loop)->run(lanes.count(), take);
  tasks.take();
  return tasks.status();
}

}  // namespace millrace::device::cpu
