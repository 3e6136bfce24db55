#include "runtime/launch/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "runtime/base/crc32.h"
#include "runtime/base/file_io.h"
#include "runtime/weights/safetensors.h"

namespace pp::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "step-", kEnd = ".safetensors";
constexpr size_t kDigits = 10;
constexpr size_t kKept = 2;
constexpr const char kSteps[] = "steps";

// The steps in the name of a checkpoint; `rest` is what follows the name.
std::optional<uint64_t> StepsOf(std::string_view name, std::string_view* rest) {
  const size_t length = kBegin.size() + kDigits + kEnd.size();
  if (name.size() < length || !name.starts_with(kBegin) ||
      name.substr(kBegin.size() + kDigits, kEnd.size()) != kEnd) {
    return std::nullopt;
  }
  const char* begin = name.data() + kBegin.size();
  uint64_t steps = 0;
  const auto [end, error] = std::from_chars(begin, begin + kDigits, steps);
  if (error != std::errc() || end != begin + kDigits) return std::nullopt;
  *rest = name.substr(length);
  return steps;
}

struct Folder {
  std::map<uint64_t, std::string> whole;  // by steps
  std::vector<std::string> aside;         // of runs that were killed
};

Result<Folder> ReadFolder(const std::string& path) {
  Folder folder;
  std::error_code error;
  fs::directory_iterator entry(path, error);
  if (error == std::errc::no_such_file_or_directory) return folder;
  while (!error && entry != fs::directory_iterator()) {
    std::string_view rest;
    const std::string name = entry->path().filename().string();
    if (const auto steps = StepsOf(name, &rest)) {
      if (rest.empty()) folder.whole[*steps] = entry->path().string();
      if (rest.ends_with(".tmp")) folder.aside.push_back(entry->path());
    }
    entry.increment(error);
  }
  if (!error) return folder;
  return Fail(MachineError(
      fmt::format("cannot read the folder {}: {}", path, error.message())));
}

Status MakeFolder(const std::string& path, const Folder& folder) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || access(path.c_str(), W_OK) != 0) {
    return MachineError(fmt::format(
        "cannot write checkpoints to {}: {}", path,
        error ? error.message() : "no such folder, or not allowed"));
  }
  for (const std::string& file : folder.aside) fs::remove(file, error);
  return OkStatus();
}

using Facts = std::map<std::string, std::string>;

// Whatever decides the numbers of a run, but not where its ranks are.
Result<Facts> FactsOf(const Options& options) {
  const engine::EngineConfig& e = options.engine;
  Facts facts = {
      {"--model", e.model},
      {"--batch", e.batch == 0 ? "default" : std::to_string(e.batch)},
      {"--seed", std::to_string(e.seed)},
      {"--optimizer", e.optimizer},
      {"--lr",
       e.learning_rate == 0 ? "default" : fmt::format("{}", e.learning_rate)}};
  for (const auto& [name, value] : e.options) {
    facts["model option " + name] = value;
  }
  if (!e.data.empty()) {
    PP_ASSIGN_OR_RETURN(const auto bytes, ReadFile(e.data));
    facts["--data"] =
        fmt::format("{} bytes, checksum {:08x}", bytes.size(), Crc32(bytes));
  }
  return facts;
}

Status CheckFacts(const std::string& path, const Facts& theirs, Facts ours) {
  for (const auto& [key, value] : theirs) ours.try_emplace(key, "default");
  for (const auto& [key, value] : ours) {
    const auto found = theirs.find(key);
    const std::string before =
        found == theirs.end() ? "default" : found->second;
    if (before == value) continue;
    return InputError(
        fmt::format("`{}` is a checkpoint with {} {}, this run has {}", path,
                    key, before, value));
  }
  return OkStatus();
}

Status Resume(const std::string& path, uint64_t steps, Options& options) {
  PP_ASSIGN_OR_RETURN(const auto file, weights::File::Open(path));
  PP_ASSIGN_OR_RETURN(Facts facts, FactsOf(options));
  facts[kSteps] = std::to_string(steps);
  PP_RETURN_IF_ERROR(
      CheckFacts(path, file->header().metadata, std::move(facts)));
  if (steps >= options.steps) {
    return UsageError(
        fmt::format("`{}` is after {} steps: --steps {} leaves nothing to do",
                    path, steps, options.steps));
  }
  options.engine.init = path;
  options.engine.resumed = steps;
  return OkStatus();
}

// So that the new name outlives a loss of power. Best effort: some file systems
// have no such call.
void SyncFolder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

}  // namespace

Status SettleCheckpoint(Options& options, bool leads) {
  if (options.checkpoint.empty()) return OkStatus();
  PP_ASSIGN_OR_RETURN(const Folder folder, ReadFolder(options.checkpoint));
  if (!folder.whole.empty()) {
    const auto& [steps, path] = *folder.whole.rbegin();
    if (!options.resume) {
      return UsageError(
          fmt::format("`{}` is there from another run: --resume goes on from "
                      "it, or name an empty folder",
                      path));
    }
    PP_RETURN_IF_ERROR(Resume(path, steps, options));
  }
  return leads ? MakeFolder(options.checkpoint, folder) : OkStatus();
}

Status SaveCheckpoint(const Options& options, uint64_t steps,
                      const WeightMap& all) {
  PP_ASSIGN_OR_RETURN(Facts facts, FactsOf(options));
  facts[kSteps] = std::to_string(steps);
  std::vector<weights::TensorView> views;
  for (const auto& [name, owned] : all) {
    views.push_back({name, owned.weight.shape, owned.weight.values});
  }
  const fs::path folder = options.checkpoint;
  const fs::path path =
      folder / fmt::format("{}{:0{}}{}", kBegin, steps, kDigits, kEnd);
  PP_RETURN_IF_ERROR(weights::Write(path.string(), views, facts));
  SyncFolder(options.checkpoint);
  PP_ASSIGN_OR_RETURN(Folder now, ReadFolder(options.checkpoint));
  std::error_code error;  // an old one that stays harms nothing
  while (now.whole.size() > kKept) {
    fs::remove(now.whole.begin()->second, error);
    now.whole.erase(now.whole.begin());
  }
  return OkStatus();
}

}  // namespace pp::launch
