// Reads pictures of characters with the network in models/glyphs, through the VART-ML API: first
// one frame at a time, then with two jobs in flight, and says how many it read right.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/file.h"
#include "io/npy.h"
#include "samples/glyphs/show.h"
#include "vart/vart_runner_factory.hpp"

namespace {

using millrace::samples::Picture;
using Frames = std::vector<std::vector<vart::NpuTensor>>;  // [batch][tensor], as execute takes them

constexpr size_t kShownPicture = 2;  // a clear one; any other would do
constexpr size_t kJobsInFlight = 2;  // the runner's default max_concurrent_runs
constexpr auto kJobTimeout = std::chrono::milliseconds(30000);

struct HeldBackSet {
  std::vector<Picture> pictures;
  std::vector<int> classes;  // the right answer for each
  std::vector<std::string> class_names;
};

template <class T>
T take(millrace::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().message());
  return *std::move(result);
}

HeldBackSet load_set(const std::string& folder) {
  const auto images = take(millrace::io::read_npy(folder + "/heldback_images.npy"));
  const auto labels = take(millrace::io::read_npy(folder + "/heldback_labels.npy"));
  HeldBackSet set;
  set.class_names = take(millrace::io::read_lines(folder + "/classes.txt"));
  if (images.type != millrace::tensor::DataType::kUint8 || images.shape.size() != 3 ||
      labels.type != millrace::tensor::DataType::kUint8 || labels.bytes.size() != images.shape[0])
    throw std::runtime_error(folder + ": pictures and labels are not of the expected form");
  const size_t pixels = size_t{images.shape[1]} * images.shape[2];
  for (size_t i = 0; i < labels.bytes.size(); ++i) {
    const auto* first = reinterpret_cast<const unsigned char*>(images.bytes.data()) + i * pixels;
    set.pictures.push_back({images.shape[1], images.shape[2], {first, first + pixels}});
    set.classes.push_back(std::to_integer<int>(labels.bytes[i]));
    if (static_cast<size_t>(set.classes.back()) >= set.class_names.size())
      throw std::runtime_error(folder + ": a label has no class name");
  }
  return set;
}

// One set of tensors per job in flight.
struct Slot {
  Frames inputs, outputs;
};

class Reader {
 public:
  explicit Reader(const std::string& model) {
    // Values are std::any: a const char* would be stored as a pointer, not as a string.
    runner_ = vart::RunnerFactory::create_runner(
        vart::RunnerType::VAIML, model,
        {{"input_tensor_type", std::string("CPU")}, {"output_tensor_type", std::string("CPU")}});
    const auto& input =
        runner_->get_tensors_info(vart::TensorDirection::INPUT, vart::TensorType::CPU).at(0);
    const auto& output =
        runner_->get_tensors_info(vart::TensorDirection::OUTPUT, vart::TensorType::CPU).at(0);
    scores_ = output.size;
    for (Slot& slot : slots_) {
      slot.inputs = {{runner_->allocate_npu_tensor(input)}};
      slot.outputs = {{runner_->allocate_npu_tensor(output)}};
    }
  }

  // The class of every picture, one job after another.
  std::vector<int> read_synchronously(const std::vector<Picture>& pictures) {
    std::vector<int> classes;
    for (const Picture& picture : pictures) {
      fill(slots_[0], picture);
      check(runner_->execute(slots_[0].inputs, slots_[0].outputs), "execute");
      classes.push_back(best_class(slots_[0]));
    }
    return classes;
  }

  // The same with the device kept busy: while it works on one job, the host prepares the next.
  std::vector<int> read_asynchronously(const std::vector<Picture>& pictures) {
    std::vector<int> classes;
    std::deque<vart::JobHandle> in_flight;
    for (size_t i = 0; i < pictures.size() + kJobsInFlight; ++i) {
      Slot& slot = slots_[i % kJobsInFlight];
      if (i >= kJobsInFlight && !in_flight.empty()) {
        check(runner_->wait(in_flight.front(), kJobTimeout), "wait");
        in_flight.pop_front();
        classes.push_back(best_class(slot));
      }
      if (i >= pictures.size()) continue;
      fill(slot, pictures[i]);
      in_flight.push_back(runner_->execute_async(slot.inputs, slot.outputs));
      check(in_flight.back().status, "execute_async");
    }
    return classes;
  }

 private:
  static void check(vart::StatusCode status, const char* call) {
    if (status != vart::StatusCode::SUCCESS)
      throw std::runtime_error(std::string(call) + ": " + std::string(vart::to_string(status)));
  }

  static void fill(Slot& slot, const Picture& picture) {
    auto* input = static_cast<float*>(slot.inputs[0][0].get_virtual_address());
    std::transform(picture.pixels.begin(), picture.pixels.end(), input,
                   [](unsigned char grey) { return static_cast<float>(grey) / 255.0F; });
  }

  int best_class(const Slot& slot) const {
    const auto* scores = static_cast<const float*>(slot.outputs[0][0].get_virtual_address());
    return static_cast<int>(std::max_element(scores, scores + scores_) - scores);
  }

  std::shared_ptr<vart::Runner> runner_;
  size_t scores_ = 0;
  Slot slots_[kJobsInFlight];
};

// Runs `pass` and returns frames per second.
template <class Pass>
double frames_per_second(size_t frames, Pass pass) {
  const auto start = std::chrono::steady_clock::now();
  pass();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return static_cast<double>(frames) / seconds.count();
}

// Writes the rest of standard output, which may still wait in a buffer.
void check_printed() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::runtime_error("cannot write to standard output");
}

int read_pictures(const std::string& model, const std::string& folder, double min_accuracy) {
  const HeldBackSet set = load_set(folder);
  Reader reader(model);
  std::vector<int> synchronous;
  std::vector<int> asynchronous;
  reader.read_synchronously({set.pictures.begin(), set.pictures.begin() + 10});  // warm up
  const double sync_rate = frames_per_second(
      set.pictures.size(), [&] { synchronous = reader.read_synchronously(set.pictures); });
  const double async_rate = frames_per_second(
      set.pictures.size(), [&] { asynchronous = reader.read_asynchronously(set.pictures); });

  millrace::samples::show_picture(set.pictures.at(kShownPicture),
                                  set.class_names[static_cast<size_t>(asynchronous[kShownPicture])],
                                  set.class_names[static_cast<size_t>(set.classes[kShownPicture])]);
  size_t right = 0;
  for (size_t i = 0; i < set.classes.size(); ++i) right += asynchronous[i] == set.classes[i];
  const double accuracy = static_cast<double>(right) / static_cast<double>(set.classes.size());
  std::printf("accuracy      %.2f %% (%zu of %zu held-back pictures, %zu classes)\n",
              100 * accuracy, right, set.classes.size(), set.class_names.size());
  std::printf("synchronous   %.0f frames/s\n", sync_rate);
  std::printf("asynchronous  %.0f frames/s, %zu jobs in flight\n", async_rate, kJobsInFlight);
  if (synchronous != asynchronous)
    throw std::runtime_error("synchronous and asynchronous results differ");
  check_printed();
  if (accuracy < min_accuracy) throw std::runtime_error("the accuracy is below --min-accuracy");
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app("Reads pictures of characters through the VART-ML API.", "glyphs");
  std::string model;
  std::string folder;
  double min_accuracy = 0;
  app.add_option("model", model, "the compiled network")->required();
  app.add_option("folder", folder, "folder with heldback_images.npy, ..._labels.npy, classes.txt")
      ->required();
  app.add_option("--min-accuracy", min_accuracy, "fail below this share of right answers");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return 2;
    check_printed();
    return 0;
  }
  return read_pictures(model, folder, min_accuracy);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "glyphs: %s\n", error.what());
    return 1;
  }
}
