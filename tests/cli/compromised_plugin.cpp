// Represents a child process that a model has taken over. MILLRACE_TEST_ATTACK chooses what it does
// when it is loaded, which is after the model was read. Each attack reports on standard error how
// it went, and ends the process or lets the plugin be refused.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

void tell(const char* what, bool done) {
  std::fprintf(stderr, "%s: %s\n", what, done ? "done" : strerrorname_np(errno));
}

void move_the_parent() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(0, &cores);
  tell("affinity", ::sched_setaffinity(::getppid(), sizeof cores, &cores) == 0);
}

void hide_memory() {
  tell("memfd", ::memfd_create("hidden", 0) >= 0);
  int pipes = 0;
  for (int ends[2]; ::pipe(ends) == 0;) ++pipes;
  std::fprintf(stderr, "pipes: %s\n", pipes < 200 ? "few" : "many");
}

// This head must be the same as in child_channel.cpp.
struct Head {
  uint64_t body_bytes;
  uint32_t name_bytes;
  int32_t code;
  uint32_t kind;
};

void send(uint32_t kind, std::string_view name, std::string_view body) {
  constexpr int kChannel = 3;
  const Head head = {body.size(), static_cast<uint32_t>(name.size()), 0, kind};
  std::string message(sizeof head, '\0');
  std::memcpy(message.data(), &head, sizeof head);
  message.append(name).append(body);
  if (::write(kChannel, message.data(), message.size()) < 0) std::perror("channel");
}

void forge(std::string_view name) {
  send(0, name, "forged");
  send(1, "", "");
  ::_exit(0);
}

// Names another output after the model has named its outputs.
void name_another_output() {
  send(2, "", std::string_view("precious.bin\0", 13));
  forge("precious.bin");
}

void paint() {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    constexpr std::string_view kText =
        "\x1b]0;title\x07 \x9b"
        "31m \xe2\x80\xae nib.a\n";
    if (::write(descriptor, kText.data(), kText.size()) < 0) std::perror("paint");
  }
  constexpr std::string_view kReason = "\x1b[31mreason\nmillrace: all is well";
  const Head head = {kReason.size(), 0, 1, 1};
  if (::write(3, &head, sizeof head) < 0 || ::write(3, kReason.data(), kReason.size()) < 0)
    std::perror("channel");
  ::_exit(0);
}

void print_for_ever() {
  const std::string line(4095, 'x');
  for (;;)
    if (std::printf("%s\n", line.c_str()) < 0) ::_exit(0);
}

void use_descriptors() {
  std::string open;
  for (int descriptor = 0; descriptor < 1024; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) >= 0) open += std::to_string(descriptor) + " ";
  std::fprintf(stderr, "open: %s\n", open.c_str());
  for (const int descriptor : {0, 1, 2})
    tell("map", ::mmap(nullptr, 1, PROT_READ, MAP_SHARED, descriptor, 0) != MAP_FAILED);
  tell("write to input", ::write(STDIN_FILENO, "x", 1) >= 0);
}

void look_at_the_parent() {
  const std::string folder = "/proc/" + std::to_string(::getppid());
  for (const char* file : {"/mem", "/environ", "/fd/1"})
    tell(file, ::open((folder + file).c_str(), O_RDONLY) >= 0);
}

struct Attack {
  std::string_view name;
  void (*act)();
};
constexpr Attack kAttacks[] = {{"affinity", move_the_parent},
                               {"memory", hide_memory},
                               {"forge", [] { forge("precious.bin"); }},
                               {"forge escapes", [] { forge("a\x1b]0;title\x07.bin"); }},
                               {"forge twice",
                                [] {
                                  send(0, "scores.bin", "first");
                                  forge("scores.bin");
                                }},
                               {"name", name_another_output},
                               {"paint", paint},
                               {"flood", print_for_ever},
                               {"descriptors", use_descriptors},
                               {"parent", look_at_the_parent}};

struct Compromised {
  Compromised() {
    const char* const wanted = std::getenv("MILLRACE_TEST_ATTACK");
    for (const Attack& attack : kAttacks)
      if (wanted != nullptr && attack.name == wanted) attack.act();
  }
} const compromised;

}  // namespace
