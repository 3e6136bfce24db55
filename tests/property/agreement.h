// What the tests that ask judges and machines the same question have in common.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "compiler/diag/diagnostic.h"

namespace pp {

using diag::Code;

// PP_PROPERTY_SCALE=N tries N times as many.
inline size_t Scale() {
  const char* text = std::getenv("PP_PROPERTY_SCALE");
  const long scale = text ? std::atol(text) : 1;
  return scale > 0 ? static_cast<size_t>(scale) : 1;
}

// Of errors.
inline std::set<Code> Codes(const diag::Emitter& diag) {
  std::set<Code> codes;
  for (const auto& d : diag.all()) {
    if (d.severity == diag::Severity::kError) codes.insert(d.code);
  }
  return codes;
}
inline std::string Texts(const diag::Emitter& diag) {
  std::string text;
  for (const auto& d : diag.all()) {
    text += "check: " + d.message + "\n";
    for (const auto& n : d.notes) text += "  " + n.message + "\n";
  }
  return text;
}

// What a test has met: without both, agreement would mean nothing.
struct Tally {
  size_t good = 0, stuck = 0, wrong = 0, refused = 0;
  size_t all() const { return good + stuck + wrong; }
  void Show(const char* name) const {
    std::printf("%s: %zu programs, %zu good, %zu stuck, %zu wrong\n", name,
                all(), good, stuck, wrong);
  }
};

}  // namespace pp
