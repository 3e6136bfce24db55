// make_program SCHEDULE RANKS MICRO_BATCHES OUT.ppb: one of the hand-built
// modules as a file, so that pprun is tested without the compiler.
// Schedules: gpipe, one_f_one_b, split_gpipe, lost (gpipe whose rank 0 does
// not send its first activation).
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "runtime/base/file_io.h"
#include "runtime/bytecode/writer.h"
#include "tests/support/programs.h"

namespace {

pp::bytecode::Module Make(const std::string& name, uint32_t ranks,
                          uint32_t micro_batches) {
  if (name == "one_f_one_b") return pp::test::OneFOneB(ranks, micro_batches);
  if (name == "split_gpipe") return pp::test::SplitGPipe(ranks, micro_batches);
  if (name == "lost") return pp::test::LostMessage(ranks, micro_batches);
  return pp::test::GPipe(ranks, micro_batches);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto module = Make(argv[1], static_cast<uint32_t>(std::atoi(argv[2])),
                           static_cast<uint32_t>(std::atoi(argv[3])));
  const auto bytes = pp::bytecode::Write(module);
  if (!bytes) {
    fmt::print(stderr, "{}\n", bytes.error().message());
    return 1;
  }
  const pp::Status written = pp::WriteFile(argv[4], *bytes);
  if (!written.ok()) fmt::print(stderr, "{}\n", written.message());
  return pp::ExitCode(written);
}
