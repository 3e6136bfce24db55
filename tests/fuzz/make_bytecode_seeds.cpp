// Writes the seeds of the bytecode fuzzers: FOLDER/ppb/*.ppb,
// FOLDER/ppasm/*.ppasm, and FOLDER/ppasm.dict, the words of the text form.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "runtime/base/file_io.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/writer.h"
#include "tests/unit/bytecode/random_module.h"

namespace pp::bytecode {
namespace {

constexpr uint64_t kTried = 600;
// Small ones are tried more often in the same time.
constexpr size_t kLargestSeed = 1600;

std::string Dictionary() {
  std::string words;
  const auto add = [&](std::string_view word) {
    if (!word.empty()) words += fmt::format("\"{}\"\n", word);
  };
  for (const OpInfo& info : AllOps()) {
    add(info.mnemonic);
    for (const OperandInfo& operand : info.operands) {
      add(OperandPrefix(operand.kind));
    }
  }
  for (const char* word : {"ppasm 1",
                           "module",
                           "facts",
                           "group",
                           "site",
                           "rank",
                           "chunk",
                           "replica",
                           "slots",
                           "stashes",
                           "code",
                           "param",
                           "peak_activations",
                           "micro_batches",
                           "stages",
                           "replicas",
                           "lanes",
                           "tied",
                           "->",
                           "act",
                           "grad",
                           ";",
                           "//",
                           "makespan",
                           "schedule"}) {
    add(word);
  }
  return words;
}

Status WriteSeeds(const std::string& folder) {
  std::error_code ignored;  // writing will say what is wrong with the folder
  std::filesystem::create_directories(folder + "/ppb", ignored);
  std::filesystem::create_directories(folder + "/ppasm", ignored);
  PP_RETURN_IF_ERROR(WriteTextFile(folder + "/ppasm.dict", Dictionary()));
  for (uint64_t seed = 0; seed < kTried; ++seed) {
    const Module module = RandomModule(seed);
    PP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, Write(module));
    if (bytes.size() > kLargestSeed) continue;
    PP_RETURN_IF_ERROR(
        WriteFile(fmt::format("{}/ppb/{}.ppb", folder, seed), bytes));
    PP_RETURN_IF_ERROR(WriteTextFile(
        fmt::format("{}/ppasm/{}.ppasm", folder, seed), Print(module)));
  }
  return OkStatus();
}

}  // namespace
}  // namespace pp::bytecode

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const pp::Status status = pp::bytecode::WriteSeeds(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return pp::ExitCode(status);
}
