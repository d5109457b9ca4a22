// The programs of docs/hazards.md in the VART-ML API: `vart_hazards MODEL.rai HAZARD_wrong` makes
// one mistake, HAZARD_right does the same work as it should be done. The page shows the bodies of
// the functions. The device must be slow enough for jobs to be in flight meanwhile.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "vart/vart_runner_factory.hpp"

namespace {

using namespace std::chrono_literals;
using Batch = std::vector<std::vector<vart::NpuTensor>>;

void check(vart::StatusCode status) {
  if (status != vart::StatusCode::SUCCESS)
    throw std::runtime_error(std::string(vart::to_string(status)));
}

class Programs {
 public:
  explicit Programs(const std::string& path)
      : runner(vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, path, {})),
        syncing_runner(vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, path,
                                                          {{"skip_in_bo_sync", true}})),
        pictures(batch(vart::TensorDirection::INPUT)),
        scores(batch(vart::TensorDirection::OUTPUT)),
        other_scores(batch(vart::TensorDirection::OUTPUT)) {}

  void shared_output_wrong() {
    const vart::JobHandle first = runner->execute_async(pictures, scores);
    const vart::JobHandle second = runner->execute_async(pictures, scores);
    check(runner->wait(first, 10s));
    check(runner->wait(second, 10s));
  }
  void shared_output_right() {
    const vart::JobHandle first = runner->execute_async(pictures, scores);
    const vart::JobHandle second = runner->execute_async(pictures, other_scores);
    check(runner->wait(first, 10s));
    check(runner->wait(second, 10s));
  }

  void input_written_wrong() {
    const vart::JobHandle job = runner->execute_async(pictures, scores);
    *static_cast<char*>(pictures[0][0].get_virtual_address()) = 1;  // the next picture
    check(runner->wait(job, 10s));
  }
  void input_written_right() {
    const vart::JobHandle job = runner->execute_async(pictures, scores);
    check(runner->wait(job, 10s));
    *static_cast<char*>(pictures[0][0].get_virtual_address()) = 1;  // the next picture
  }

  // The option skip_in_bo_sync of this runner says that the program syncs inputs.
  void missing_sync_wrong() {
    *static_cast<char*>(pictures[0][0].get_virtual_address()) = 1;
    check(syncing_runner->execute(pictures, scores));
  }
  void missing_sync_right() {
    *static_cast<char*>(pictures[0][0].get_virtual_address()) = 1;
    pictures[0][0].sync_buffer();
    check(syncing_runner->execute(pictures, scores));
  }

  void waited_twice_wrong() {
    const vart::JobHandle job = runner->execute_async(pictures, scores);
    check(runner->wait(job, 10s));
    if (runner->wait(job, 10s) == vart::StatusCode::SUCCESS) ++done;  // INVALID_JOB_ID
  }
  void waited_twice_right() {
    const vart::JobHandle job = runner->execute_async(pictures, scores);
    if (runner->wait(job, 10s) == vart::StatusCode::SUCCESS) ++done;
  }

  void never_waited_wrong() {
    runner->execute_async(pictures, scores);
    std::this_thread::sleep_for(400ms);  // long enough, it seems
  }
  void never_waited_right() {
    const vart::JobHandle job = runner->execute_async(pictures, scores);
    check(runner->wait(job, 10s));
  }

  // Not on the page: a thread that has submitted a job, and has ended or is about to wait, when
  // another one ends the process.
  void thread_has_ended() {
    std::string listed;
    std::thread([&] {
      listed = "/proc/self/task/" + std::to_string(::gettid());
      runner->execute_async(pictures, scores);
    }).join();
    while (std::filesystem::exists(listed)) std::this_thread::yield();  // a little after the join
    std::exit(0);
  }
  void thread_still_runs() {
    std::promise<void> submitted;
    std::thread([this, &submitted] {
      const vart::JobHandle job = runner->execute_async(pictures, scores);
      submitted.set_value();
      std::promise<void>().get_future().wait();  // it never comes to its wait
      runner->wait(job, 10s);
    }).detach();
    submitted.get_future().wait();
    std::exit(0);
  }

  void busy_polling_wrong() {
    const vart::JobHandle job = runner->execute_async(pictures, scores);
    while (runner->wait(job, 0ms) == vart::StatusCode::JOB_PENDING) {
    }
  }
  void busy_polling_right() {
    const vart::JobHandle job = runner->execute_async(pictures, scores);
    check(runner->wait(job, 10s));
  }

 private:
  Batch batch(vart::TensorDirection direction) const {
    Batch made(1);
    for (const vart::NpuTensorInfo& info :
         runner->get_tensors_info(direction, vart::TensorType::HW))
      made[0].push_back(runner->allocate_npu_tensor(info));
    return made;
  }

  const std::shared_ptr<vart::Runner> runner, syncing_runner;
  Batch pictures, scores, other_scores;
  int done = 0;
};

using Program = void (Programs::*)();
const std::map<std::string, Program> kPrograms = {
    {"shared_output_wrong", &Programs::shared_output_wrong},
    {"shared_output_right", &Programs::shared_output_right},
    {"input_written_wrong", &Programs::input_written_wrong},
    {"input_written_right", &Programs::input_written_right},
    {"missing_sync_wrong", &Programs::missing_sync_wrong},
    {"missing_sync_right", &Programs::missing_sync_right},
    {"waited_twice_wrong", &Programs::waited_twice_wrong},
    {"waited_twice_right", &Programs::waited_twice_right},
    {"never_waited_wrong", &Programs::never_waited_wrong},
    {"never_waited_right", &Programs::never_waited_right},
    {"thread_has_ended", &Programs::thread_has_ended},
    {"thread_still_runs", &Programs::thread_still_runs},
    {"busy_polling_wrong", &Programs::busy_polling_wrong},
    {"busy_polling_right", &Programs::busy_polling_right}};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("usage: vart_hazards MODEL.rai NAME");
  Programs programs(argv[1]);
  (programs.*kPrograms.at(argv[2]))();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
