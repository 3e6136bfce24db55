// Rules: on each (source, destination, lane) the n-th SEND meets the n-th
// RECV, so there are as many of one as of the other (Partners), and both name
// the same tensor (Fifo): there are no tags, so else tensors are swapped in
// silence.
// Codes: UnmatchedSend (3001), UnmatchedReceive (3002), FifoMismatch (3003).
// Cost: linear; O(n log n) on a lane whose ends differ.
//
//   rank 0: send act s0 m0, m1    rank 1: recv act s0 m1, m0     // swapped
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/check/checks.h"
#include "compiler/check/module_where.h"

namespace pp::check {
namespace {

using analysis::At;
using analysis::Channel;
using analysis::Tensor;
using analysis::TensorOf;
using bytecode::Module;

std::vector<Tensor> Tensors(const Module& module, Rank rank,
                            const std::vector<Pc>& pcs) {
  std::vector<Tensor> tensors;
  for (const Pc pc : pcs) tensors.push_back(TensorOf(At(module, {rank, pc})));
  return tensors;
}

// Which of `mine` are one too many: those that name a tensor more often than
// the other end does, the last first. If names alone do not settle it, simply
// the last.
std::vector<InstrRef> Surplus(const Module& module, Rank rank,
                              const std::vector<Pc>& mine,
                              const std::vector<Tensor>& theirs) {
  const size_t count = mine.size() - theirs.size();
  std::map<Tensor, int> wanted;
  for (const Tensor& t : theirs) ++wanted[t];
  std::vector<InstrRef> surplus;
  for (const Pc pc : mine) {
    if (--wanted[TensorOf(At(module, {rank, pc}))] < 0) {
      surplus.push_back({rank, pc});
    }
  }
  if (surplus.size() == count) return surplus;
  surplus.clear();
  for (size_t i = theirs.size(); i < mine.size(); ++i) {
    surplus.push_back({rank, mine[i]});
  }
  return surplus;
}

struct Orphans {
  std::vector<InstrRef> sends, receives;
};

Orphans FindOrphans(const Module& module, const analysis::CommMatch& match) {
  Orphans orphans;
  for (const Channel& c : match.channels) {
    const auto add = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    if (c.sends.size() > c.receives.size()) {
      add(orphans.sends,
          Surplus(module, c.from, c.sends, Tensors(module, c.to, c.receives)));
    } else if (c.receives.size() > c.sends.size()) {
      add(orphans.receives,
          Surplus(module, c.to, c.receives, Tensors(module, c.from, c.sends)));
    }
  }
  std::ranges::sort(orphans.sends);
  std::ranges::sort(orphans.receives);
  return orphans;
}

void EmitOrphan(const Module& module, InstrRef orphan,
                const std::map<Tensor, InstrRef>& strangers,
                diag::Emitter& diag) {
  const bytecode::Instr& instr = At(module, orphan);
  const auto i = bytecode::op::Send::Of(instr);
  const bool send = instr.op == bytecode::Opcode::kSend;
  auto error = diag.Emit(
      send ? diag::Code::kUnmatchedSend : diag::Code::kUnmatchedReceive,
      Where(module, orphan),
      fmt::format("{} on lane l{} has no matching {} on rank {}",
                  NameAt(module, orphan), i.lane.value,
                  send ? "receive" : "send", i.peer.value));
  const auto other = strangers.find(TensorOf(instr));
  if (other != strangers.end()) {
    const auto lane =
        bytecode::op::Send::Of(At(module, other->second)).lane.value;
    error.Note(Where(module, other->second),
               fmt::format("{} on lane l{} has no partner either",
                           NameAt(module, other->second), lane));
    error.Help("the two name the same tensor: compare their ranks and lanes");
  } else {
    error.Help(send ? "add the receive, or take the send away"
                    : "add the send, or take the receive away");
  }
}

struct Mismatch {
  size_t first = 0;
  size_t count = 0;
  bool same_set = false;  // only the order differs
};

Mismatch Compare(std::vector<Tensor> sent, std::vector<Tensor> received) {
  Mismatch m;
  for (size_t i = 0; i < sent.size(); ++i) {
    if (sent[i] == received[i]) continue;
    if (m.count++ == 0) m.first = i;
  }
  if (m.count == 0) return m;
  std::ranges::sort(sent);
  std::ranges::sort(received);
  m.same_set = sent == received;
  return m;
}

void EmitMismatch(const Module& module, const Channel& c, const Mismatch& m,
                  diag::Emitter& diag) {
  const InstrRef send{c.from, c.sends[m.first]};
  const InstrRef receive{c.to, c.receives[m.first]};
  auto error = diag.Emit(
      diag::Code::kFifoMismatch, Where(module, receive),
      fmt::format("message {} from rank {} to rank {} on lane l{} is sent as "
                  "`{}` and received as `{}`",
                  m.first + 1, c.from.value, c.to.value, c.lane.value,
                  TensorText(TensorOf(At(module, send))),
                  TensorText(TensorOf(At(module, receive)))));
  error.Note(Where(module, send), NameAt(module, send) + " sends it");
  error.Note(Where(module, receive), NameAt(module, receive) + " receives it");
  if (m.count > 1) {
    error.Note({},
               fmt::format("{} more on this lane do not agree", m.count - 1));
  }
  error.Help(m.same_set
                 ? "messages have no tags: issue the receives in the order of "
                   "the sends, or use lanes of their own"
                 : "one of the two ends names the wrong tensor");
}

}  // namespace

bool ModulePartners(const ModuleContext& context, diag::Emitter& diag) {
  if (context.match.complete) return true;
  const Module& module = context.module;
  const Orphans orphans = FindOrphans(module, context.match);
  std::map<Tensor, InstrRef> sends, receives;
  for (const InstrRef& s : orphans.sends) {
    sends.try_emplace(TensorOf(At(module, s)), s);
  }
  for (const InstrRef& r : orphans.receives) {
    receives.try_emplace(TensorOf(At(module, r)), r);
  }
  for (const InstrRef& s : orphans.sends) {
    EmitOrphan(module, s, receives, diag);
  }
  for (const InstrRef& r : orphans.receives) {
    EmitOrphan(module, r, sends, diag);
  }
  return false;
}

bool ModuleFifo(const ModuleContext& context, diag::Emitter& diag) {
  const Module& module = context.module;
  bool ok = true;
  for (const Channel& c : context.match.channels) {
    const Mismatch m = Compare(Tensors(module, c.from, c.sends),
                               Tensors(module, c.to, c.receives));
    if (m.count == 0) continue;
    ok = false;
    EmitMismatch(module, c, m, diag);
  }
  return ok;
}

}  // namespace pp::check
