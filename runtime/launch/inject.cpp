#include "runtime/launch/inject.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "runtime/base/edit_distance.h"

namespace pp::launch {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"error", "exit", "kill",
                                                    "stop", "hang"};

Status Act(FaultKind kind) {
  switch (kind) {
    case FaultKind::kError:
      return RankError("injected fault");
    case FaultKind::kExit:
      _exit(0);
    case FaultKind::kKill:
      raise(SIGKILL);
      break;
    case FaultKind::kStop:
      raise(SIGSTOP);
      break;
    case FaultKind::kHang:
      for (;;) pause();
  }
  return OkStatus();
}

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text = text.substr(colon + 1);
  }
}

bool Read(std::string_view text, uint32_t& value) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<Injection> ParseInjection(const std::string& text) {
  const std::vector<std::string_view> parts = Split(text);
  Injection injection;
  uint32_t rank = 0, step = 0;
  if (parts.size() < 3 || parts.size() > 4 || !Read(parts[0], rank) ||
      !Read(parts[1], injection.pc) ||
      (parts.size() == 4 && !Read(parts[3], step))) {
    return Fail(UsageError("--inject `" + text +
                           "` is not RANK:PC:KIND or RANK:PC:KIND:STEP"));
  }
  injection.rank = Rank(rank);
  injection.step = step;
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (kKinds[kind] != parts[2]) continue;
    injection.kind = static_cast<FaultKind>(kind);
    return injection;
  }
  return Fail(UsageError(fmt::format("--inject: unknown kind '{}'{}", parts[2],
                                     Suggestion(parts[2], kKinds))));
}

vm::Fault FaultOf(const std::optional<Injection>& injection, Rank rank) {
  if (!injection || injection->rank != rank) return {};
  return {injection->step, injection->pc,
          [kind = injection->kind] { return Act(kind); }};
}

}  // namespace pp::launch
