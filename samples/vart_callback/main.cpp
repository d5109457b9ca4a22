// vart_callback: results are handled where they arrive, in callbacks.
//
//   main thread       takes a free slot, fills it with the next rows, submits it, and so on
//   callback thread   appends the slot's results to the output files, and gives the slot back
//
// Callbacks come in the order of submission (callback_order "submission", the default), so the
// output files have the order of the input file. No thread polls, and none waits for a single job.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/batch.hpp"
#include "common/binary_file.hpp"
#include "common/output_file.hpp"
#include "vart/vart_runner_factory.hpp"

namespace {

// There are as many jobs as the runner takes at once (max_concurrent_runs): none is ever refused.
constexpr std::size_t kSlots = 2;

struct Slot {
  samples::Batch inputs;
  samples::Batch outputs;
};

// The slots that no job uses, and the first thing that went wrong. Thread-safe.
class FreeSlots {
 public:
  void give_back(Slot& slot) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(&slot);
    changed_.notify_one();
  }
  void fail(const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.empty()) failure_ = what;
  }

  // Waits for a slot. Throws std::runtime_error once a job has failed.
  Slot& take() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !free_.empty(); });
    if (!failure_.empty()) throw std::runtime_error(failure_);
    Slot* const slot = free_.front();
    free_.pop_front();
    return *slot;
  }
  // Waits until no job uses a slot.
  void wait_for_all() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return free_.size() == kSlots; });
    if (!failure_.empty()) throw std::runtime_error(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Slot*> free_;
  std::string failure_;
};

class Pipeline {
 public:
  explicit Pipeline(const std::string& model_path)
      : runner_(vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, model_path,
                                                   {{"log_level", std::string("WARNING")}})) {
    if (runner_->get_num_input_tensors() != 1)
      throw std::runtime_error("this program takes models with exactly one input tensor");
    using vart::TensorDirection;
    for (Slot& slot : slots_) {
      slot.inputs = samples::allocate_batch(*runner_, hw_infos(TensorDirection::INPUT));
      slot.outputs = samples::allocate_batch(*runner_, hw_infos(TensorDirection::OUTPUT));
      free_slots_.give_back(slot);
    }
    for (std::size_t i = 0; i < runner_->get_num_output_tensors(); ++i)
      files_.push_back(
          std::make_unique<samples::OutputFile>("callback_out_" + std::to_string(i) + ".bin"));
  }

  // Runs all rows of the file, a batch at a time, and returns how many there were.
  std::size_t run(const std::string& input_path) {
    const std::vector<char> rows =
        samples::read_rows(input_path, hw_infos(vart::TensorDirection::INPUT).front());
    const std::size_t count =
        rows.size() / hw_infos(vart::TensorDirection::INPUT).front().size_in_bytes;
    const std::size_t batch_size = runner_->get_batch_size();
    for (std::size_t first = 0; first < count; first += batch_size)
      submit(rows, first, std::min(batch_size, count - first));
    free_slots_.wait_for_all();
    for (const auto& file : files_) file->commit();
    return count;
  }

 private:
  const std::vector<vart::NpuTensorInfo>& hw_infos(vart::TensorDirection direction) const {
    return runner_->get_tensors_info(direction, vart::TensorType::HW);
  }

  // The last batch may be a partial one: fewer frames of inputs than of outputs.
  void submit(const std::vector<char>& rows, std::size_t first, std::size_t frames) {
    Slot& slot = free_slots_.take();
    slot.inputs.resize(frames);
    samples::copy_rows(rows, first, frames, 0, slot.inputs);
    const vart::JobHandle job = runner_->execute_async(
        slot.inputs, slot.outputs,
        [this, &slot, frames](const vart::JobHandle& done) { save(slot, frames, done); });
    if (job.status == vart::StatusCode::SUCCESS) return;
    free_slots_.give_back(slot);  // there will be no callback
    throw std::runtime_error("execute_async: " + std::string(vart::to_string(job.status)));
  }

  // On the callback thread, which must not throw.
  void save(Slot& slot, std::size_t frames, const vart::JobHandle& done) noexcept {
    if (done.status != vart::StatusCode::SUCCESS)
      free_slots_.fail("job " + std::to_string(done.job_id) + ": " +
                       std::string(vart::to_string(done.status)));
    else
      for (std::size_t i = 0; i < files_.size(); ++i)
        samples::write_rows(*files_[i], slot.outputs, i, frames);
    free_slots_.give_back(slot);
  }

  std::array<Slot, kSlots> slots_;
  std::vector<std::unique_ptr<samples::OutputFile>> files_;
  FreeSlots free_slots_;
  // Last, so that it is destroyed first: the callbacks that are left use the members above.
  std::shared_ptr<vart::Runner> runner_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string usage =
      "Usage: vart_callback MODEL INPUT_BINARY\n"
      "Runs every row of the raw input file; writes callback_out_<t>.bin for each output t.\n";
  try {
    if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
      std::cout << usage;
    } else if (arguments.size() != 2) {
      throw std::runtime_error(usage);
    } else {
      const std::size_t rows = Pipeline(arguments[0]).run(arguments[1]);
      std::cout << "Rows completed: " << rows << "\n";
    }
    samples::finish_standard_output();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << "\n";
    return 1;
  }
}
