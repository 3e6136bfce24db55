// Status and Result: how functions of this project fail.
//
// A Status is a code and one message that names the place and the cause. The
// code decides the exit status of a program. No exception crosses an API of
// ours: libraries that throw are wrapped in one file each.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace pp {

enum class StatusCode {
  kOk = 0,
  kInput,       // the input is at fault: exit 1
  kUsage,       // wrong usage: exit 2
  kMachine,     // the machine is: I/O, memory, a missing library: exit 3
  kRankFailed,  // a rank failed or hung: exit 4
  kAborted,     // this rank was told to stop because another one failed: exit 4
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure seen from one frame further out: "context: message".
  Status WithContext(const std::string& context) const {
    return ok() ? *this : Status(code_, context + ": " + message_);
  }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return {}; }
inline Status InputError(std::string m) {
  return {StatusCode::kInput, std::move(m)};
}
inline Status UsageError(std::string m) {
  return {StatusCode::kUsage, std::move(m)};
}
inline Status MachineError(std::string m) {
  return {StatusCode::kMachine, std::move(m)};
}
inline Status RankError(std::string m) {
  return {StatusCode::kRankFailed, std::move(m)};
}

// Result<T> holds a T or the Status that says why there is none.
template <class T>
using Result = tl::expected<T, Status>;

inline tl::unexpected<Status> Fail(Status status) {
  return tl::unexpected<Status>(std::move(status));
}

// The exit status of a program that ends with `status` (interfaces: 0 done,
// 1 input, 2 usage, 3 machine, 4 a rank failed or hung).
inline int ExitCode(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return 0;
    case StatusCode::kInput:
      return 1;
    case StatusCode::kUsage:
      return 2;
    case StatusCode::kMachine:
      return 3;
    case StatusCode::kRankFailed:
    case StatusCode::kAborted:
      return 4;
  }
  return 3;
}

}  // namespace pp

#define PP_RETURN_IF_ERROR(expr)                              \
  do {                                                        \
    if (::pp::Status pp_status = (expr); !pp_status.ok())     \
      return ::pp::internal::Propagate(std::move(pp_status)); \
  } while (false)

#define PP_CONCAT_INNER(a, b) a##b
#define PP_CONCAT(a, b) PP_CONCAT_INNER(a, b)
#define PP_ASSIGN_OR_RETURN(decl, expr) \
  PP_ASSIGN_OR_RETURN_IMPL(PP_CONCAT(pp_result_, __LINE__), decl, expr)
#define PP_ASSIGN_OR_RETURN_IMPL(tmp, decl, expr)                     \
  auto tmp = (expr);                                                  \
  if (!tmp) return ::pp::internal::Propagate(std::move(tmp.error())); \
  decl = std::move(*tmp)

namespace pp::internal {
// Converts to Status and to every Result<T>, so that one macro serves both.
class Propagate {
 public:
  explicit Propagate(Status status) : status_(std::move(status)) {}
  operator Status() && { return std::move(status_); }  // NOLINT
  template <class T>
  operator Result<T>() && {  // NOLINT
    return Fail(std::move(status_));
  }

 private:
  Status status_;
};
}  // namespace pp::internal
