#include "runtime/transport/nccl/place.h"

namespace pp::transport::nccl {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string ToPlace(std::string_view id) {
  std::string text;
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Result<std::string> FromPlace(std::string_view place) {
  constexpr size_t kMost = 4096;
  if (place.empty() || place.size() % 2 != 0 || place.size() > kMost ||
      place.find_first_not_of(kDigits) != std::string_view::npos) {
    return Fail(RankError("rank 0 told a meeting place that is no NCCL id"));
  }
  std::string id;
  for (size_t i = 0; i < place.size(); i += 2) {
    id += static_cast<char>(kDigits.find(place[i]) << 4 |
                            kDigits.find(place[i + 1]));
  }
  return id;
}

bool IsLoopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" ||
         address == "localhost";
}

}  // namespace pp::transport::nccl
