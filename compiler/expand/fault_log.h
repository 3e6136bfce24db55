// Faults found while expanding, one diagnostic for each kind and place.
//
// A slip in a rank program shows on many ranks and in many iterations. The
// first instance is told with its rank, iteration and values; of the others
// only the ranks are kept: "the same on ranks 1..3".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/diag/diagnostic.h"

namespace pp::expand {

struct Fault {
  diag::Code code{};
  source::Span span;
  std::string message;
  std::vector<diag::Note> notes;
  std::string help;
};

class FaultLog {
 public:
  // True if a fault of this kind at this place is known: it is counted, and
  // need not be told again.
  bool Repeats(diag::Code code, source::Span span, uint32_t rank);
  void Add(Fault fault, uint32_t rank);
  bool empty() const { return entries_.empty(); }

  // Hands all over, each with `point` ("P = 4, M = 2") as its last note.
  void EmitTo(diag::Emitter& diag, const std::string& point) const;

 private:
  using Key = std::tuple<diag::Code, uint32_t, uint32_t, uint32_t>;
  struct Entry {
    Fault fault;
    std::vector<uint32_t> ranks;  // ascending
    uint64_t count = 0;
  };

  std::map<Key, size_t> index_;
  std::vector<Entry> entries_;
};

// "0..3, 5": ascending numbers, runs of three or more joined, long lists cut.
std::string PrintSet(const std::vector<uint32_t>& numbers);

}  // namespace pp::expand
