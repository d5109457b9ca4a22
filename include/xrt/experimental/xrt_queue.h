// Queues of operations on a thread of their own. A stand-in for the header of the board's runtime;
// see xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_QUEUE_H
#define XRT_EXPERIMENTAL_XRT_QUEUE_H

#include <functional>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

namespace xrt {
class queue_impl;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace xrt {

// Runs operations one after the other, in the order in which they were enqueued. Copies share the
// thread, and the last one waits for the operations. Thread-safe.
class queue {
 public:
  // The end of an operation, whatever it returns. Empty: nothing to wait for.
  class event {
   public:
    event() = default;
    template <class T>
    event(std::shared_future<T> future)  // implicit, as XRT's
        : wait_([future = std::move(future)] { future.wait(); }) {}

    void wait() const {
      if (wait_) wait_();
    }
    explicit operator bool() const { return static_cast<bool>(wait_); }

   private:
    std::function<void()> wait_;
  };

  // Throws std::runtime_error when no thread can be started.
  queue();

  // Returns the result of `operation` as a future; what the operation throws comes out of its
  // get(). std::invalid_argument for a queue that was moved from.
  template <class Operation>
  auto enqueue(Operation&& operation) {
    using Result = std::invoke_result_t<std::decay_t<Operation>&>;
    const auto task =
        std::make_shared<std::packaged_task<Result()>>(std::forward<Operation>(operation));
    std::shared_future<Result> result(task->get_future());
    add_task([task] { (*task)(); });
    return result;
  }
  // Lets the operations that follow wait for one of another queue.
  template <class T>
  auto enqueue(std::shared_future<T> awaited) {
    return enqueue([awaited = std::move(awaited)] { awaited.wait(); });
  }
  auto enqueue(event awaited) {
    return enqueue([awaited = std::move(awaited)] { awaited.wait(); });
  }

 private:
  void add_task(std::function<void()> task);

  std::shared_ptr<queue_impl> impl_;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_QUEUE_H
