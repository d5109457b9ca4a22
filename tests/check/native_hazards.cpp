// The programs of docs/hazards.md in the native API: `native_hazards MODEL.rai HAZARD_wrong` makes
// one mistake, HAZARD_right does the same work as it should be done. The page shows the bodies of
// the functions. The device must be slow enough for jobs to be in flight meanwhile.
#include <algorithm>
#include <chrono>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <millrace/millrace.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;
using millrace::Buffer;
using millrace::Job;
using millrace::TensorArg;

template <class T>
T take(millrace::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().to_string());
  return *std::move(result);
}

void check(const millrace::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

class Programs {
 public:
  explicit Programs(const char* path) : model(take(device.load(path))) {}

  void shared_output_wrong() {
    Job first = submit(unit, picture, scores);
    Job second = submit(unit, picture, scores);
    check(first.wait());
    check(second.wait());
  }
  void shared_output_right() {
    Job first = submit(unit, picture, scores);
    Job second = submit(unit, picture, other_scores);
    check(first.wait());
    check(second.wait());
  }

  void unordered_use_wrong() {
    Job first = submit(unit, picture, middle);
    Job second = submit(other_unit, middle, scores);
    check(first.wait());
    check(second.wait());
  }
  void unordered_use_right() {
    Job first = submit(unit, picture, middle);
    check(first.wait());
    Job second = submit(other_unit, middle, scores);
    check(second.wait());
  }

  void input_written_wrong() {
    Job job = submit(unit, picture, scores);
    picture.span<float>()[0] = 1;  // the next picture
    check(job.wait());
  }
  void input_written_right() {
    Job job = submit(unit, picture, scores);
    check(job.wait());
    picture.span<float>()[0] = 1;  // the next picture
  }

  void waited_twice_wrong() {
    Job job = submit(unit, picture, scores);
    check(job.wait());
    if (job.wait().ok()) ++done;  // INVALID_JOB_ID, never OK
  }
  void waited_twice_right() {
    Job job = submit(unit, picture, scores);
    const millrace::Status status = job.wait();
    if (status.ok()) ++done;
  }

  void never_waited_wrong() {
    submit(unit, picture, scores).detach();
    std::this_thread::sleep_for(400ms);  // long enough, it seems
  }
  void never_waited_right() {
    const auto completed = std::make_shared<std::promise<void>>();
    const auto callback = [completed](auto, const millrace::Status&) { completed->set_value(); };
    submit(unit, picture, scores, callback).detach();
    completed->get_future().wait();
  }

  void ignored_status_wrong() {
    Job first = submit(unit, picture, scores);
    Job late = submit(unit, picture, other_scores, {}, 1ms);  // DEADLINE_EXCEEDED
    check(first.wait());
  }
  void ignored_status_right() {
    Job first = submit(unit, picture, scores);
    Job late = submit(unit, picture, other_scores, {}, 1ms);
    check(first.wait());
    if (!late.wait().ok()) std::cerr << "the second picture came too late\n";
  }

  void slow_callback_wrong() {
    Job job = submit(unit, picture, scores, [](auto, const millrace::Status&) {
      std::this_thread::sleep_for(200ms);  // draws the result
    });
    check(job.wait());
    unit.close();  // waits for the callback
  }
  void slow_callback_right() {
    std::future<void> drawing;
    Job job = submit(unit, picture, scores, [&](auto, const millrace::Status&) {
      drawing = std::async(std::launch::async, [] { std::this_thread::sleep_for(200ms); });
    });
    check(job.wait());
    unit.close();
    drawing.wait();
  }

  void busy_polling_wrong() {
    Job job = submit(unit, picture, scores);
    while (!job.is_completed()) {
    }
    check(job.wait());
  }
  void busy_polling_right() {
    Job job = submit(unit, picture, scores);
    check(job.wait());
  }

  // The checker that the program starts itself, as the page shows.
  void own_checker() {
    check(millrace::start_hazard_checker());
    shared_output_wrong();
    for (const millrace::HazardFinding& found : take(millrace::hazard_findings()))
      std::cout << found.hazard << ' ' << found.occurrences << ' ' << found.json;
  }

 private:
  Job submit(millrace::Unit& on, const TensorArg& input, const TensorArg& output,
             millrace::JobCallback callback = {}, std::chrono::nanoseconds limit = 1h) {
    return take(on.submit(model, {.inputs = {&input, 1},
                                  .outputs = {&output, 1},
                                  .deadline = std::chrono::steady_clock::now() + limit,
                                  .callback = std::move(callback)}));
  }
  Job submit(millrace::Unit& on, const Buffer& input, const Buffer& output,
             millrace::JobCallback callback = {}, std::chrono::nanoseconds limit = 1h) {
    return submit(on, TensorArg(input), TensorArg(output), std::move(callback), limit);
  }

  millrace::Device device = take(millrace::Device::open());
  const millrace::Model model;
  millrace::Unit unit = take(device.create_unit({.depth = 4}));
  millrace::Unit other_unit = take(device.create_unit({.depth = 4}));
  const size_t bytes = std::max(model.inputs()[0].cpu.bytes, model.outputs()[0].cpu.bytes);
  Buffer picture = take(Buffer::allocate(bytes));
  Buffer middle = take(Buffer::allocate(bytes));
  Buffer scores = take(Buffer::allocate(bytes));
  Buffer other_scores = take(Buffer::allocate(bytes));
  int done = 0;
};

using Program = void (Programs::*)();
const std::map<std::string, Program> kPrograms = {
    {"shared_output_wrong", &Programs::shared_output_wrong},
    {"shared_output_right", &Programs::shared_output_right},
    {"unordered_use_wrong", &Programs::unordered_use_wrong},
    {"unordered_use_right", &Programs::unordered_use_right},
    {"input_written_wrong", &Programs::input_written_wrong},
    {"input_written_right", &Programs::input_written_right},
    {"waited_twice_wrong", &Programs::waited_twice_wrong},
    {"waited_twice_right", &Programs::waited_twice_right},
    {"never_waited_wrong", &Programs::never_waited_wrong},
    {"never_waited_right", &Programs::never_waited_right},
    {"ignored_status_wrong", &Programs::ignored_status_wrong},
    {"ignored_status_right", &Programs::ignored_status_right},
    {"slow_callback_wrong", &Programs::slow_callback_wrong},
    {"slow_callback_right", &Programs::slow_callback_right},
    {"busy_polling_wrong", &Programs::busy_polling_wrong},
    {"busy_polling_right", &Programs::busy_polling_right},
    {"own_checker", &Programs::own_checker}};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("usage: native_hazards MODEL.rai NAME");
  Programs programs(argv[1]);
  (programs.*kPrograms.at(argv[2]))();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
