// Reads pictures with the network in models/glyphs, two jobs in flight.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <millrace/millrace.hpp>
#include <stdexcept>
#include <string>

template <class T>
T take(millrace::Result<T> result) {  // failures are values; this program ends with the first
  if (!result.ok()) throw std::runtime_error(result.status().to_string());
  return *std::move(result);
}

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("usage: first_job glyphs.rai heldback_images.npy");
  millrace::Device device = take(millrace::Device::open("cpu"));
  const millrace::Model model = take(device.load(argv[1]));
  millrace::Unit unit = take(device.create_unit({.depth = 2}));
  struct Slot {
    millrace::Buffer picture, scores;
    millrace::Job job;
  } slots[2];
  for (Slot& slot : slots) {
    slot.picture = take(millrace::Buffer::allocate(model.inputs()[0].cpu.bytes));
    slot.scores = take(millrace::Buffer::allocate(model.outputs()[0].cpu.bytes));
  }
  std::ifstream pictures(argv[2], std::ios::binary);
  if (!pictures) throw std::runtime_error(std::string("cannot open ") + argv[2]);
  pictures.seekg(128);  // behind the header: one byte per pixel
  for (int i = 0; i < 42; ++i) {
    Slot& slot = slots[i % 2];
    if (i >= 2) {  // what was submitted two rounds ago; the last round's job goes on meanwhile
      if (const auto status = slot.job.wait(); !status.ok())
        throw std::runtime_error(status.to_string());
      const auto scores = slot.scores.span<float>();
      const auto best = std::ranges::max_element(scores) - scores.begin();
      std::cout << "0123456789ABCDEFGHJKLMNPRSTUVWXYZ&?#%+@$"[best] << std::flush;
    }
    std::ranges::generate(slot.picture.span<float>(), [&] { return pictures.get() / 255.0F; });
    const millrace::TensorArg input(slot.picture), output(slot.scores);
    slot.job = take(unit.submit(model, {.inputs = {&input, 1}, .outputs = {&output, 1}}));
  }
  if (!std::cout.flush()) throw std::runtime_error("cannot write to standard output");
  // The last two jobs are waited for by their handles.
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
