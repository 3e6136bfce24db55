// Module -> .ppasm, and the short forms that messages and traces use.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "runtime/base/quote.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/version.h"

namespace pp::bytecode {
namespace {

template <class... Args>
void Append(std::string& out, fmt::format_string<Args...> format,
            Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

bool IsPlainChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '/' || c == '-';
}

// A name as it is where it reads back as one word, else quoted.
std::string Plain(std::string_view name) {
  const bool plain = !name.empty() && name[0] != '-' &&
                     std::ranges::all_of(name, IsPlainChar) &&
                     name.find("//") == std::string_view::npos;
  return plain ? std::string(name) : Quote(name);
}

std::string OperandText(OperandKind kind, uint32_t value) {
  if (kind == OperandKind::kSlot && value == kNoSlot.value) return "-";
  if (kind == OperandKind::kPayload && value < kPayloadCount) {
    return std::string(PayloadName(static_cast<Payload>(value)));
  }
  return fmt::format("{}{}", OperandPrefix(kind), value);
}

// ---- Sections ----

void PrintHeader(std::string& out, const Module& module) {
  Append(out, "ppasm {}\n\nmodule\n", kFormatVersion);
  Append(out, "  micro_batches {}\n", module.micro_batches);
  Append(out, "  stages {}\n", module.stages);
  Append(out, "  replicas {}\n", module.replicas);
  Append(out, "  lanes {}\n", module.lanes);
}

void PrintFacts(std::string& out, const Facts& facts) {
  if (facts == Facts{}) return;
  out += "\nfacts\n";
#define PP_FACT_TEXT(field)                               \
  if (!facts.field.empty()) {                             \
    Append(out, "  " #field " {}\n", Quote(facts.field)); \
  }
#define PP_FACT_NUMBER(field) \
  if (facts.field != 0) Append(out, "  " #field " {}\n", facts.field);
#include "runtime/bytecode/facts_fields.def"
  for (const auto& [name, value] : facts.params) {
    Append(out, "  param {} {}\n", Plain(name), value);
  }
  if (!facts.peak_activations.empty()) {
    Append(out, "  peak_activations {}\n",
           fmt::join(facts.peak_activations, " "));
  }
}

void PrintGroups(std::string& out, const std::vector<Group>& groups) {
  if (!groups.empty()) out += '\n';
  for (size_t i = 0; i < groups.size(); ++i) {
    Append(out, "group g{} {} s{}", i, GroupKindName(groups[i].kind),
           groups[i].stage.value);
    for (const Rank rank : groups[i].ranks) Append(out, " r{}", rank.value);
    out += '\n';
  }
}

std::string SiteText(const Site& site) {
  return fmt::format("{}:{}:{}", Plain(site.file), site.line, site.column);
}

void PrintSites(std::string& out, const std::vector<Site>& sites) {
  if (!sites.empty()) out += '\n';
  for (const Site& site : sites) {
    Append(out, "site {}", SiteText(site));
    if (!site.phase.empty()) Append(out, " {}", Plain(site.phase));
    out += '\n';
  }
}

// "f.sched:14:29 steady[3]". Iteration 0 outside a phase is not said.
std::string PlaceText(const Site& site, uint32_t iteration) {
  std::string text = SiteText(site);
  if (!site.phase.empty()) Append(text, " {}", Plain(site.phase));
  if (site.phase.empty() && iteration != 0) text += ' ';
  if (!site.phase.empty() || iteration != 0) Append(text, "[{}]", iteration);
  return text;
}

// Sites that equal an earlier one cannot be named by place: their index is.
std::vector<bool> FindRepeated(const std::vector<Site>& sites) {
  std::vector<uint32_t> order(sites.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto less = [&](uint32_t a, uint32_t b) {
    return std::tie(sites[a].file, sites[a].line, sites[a].column,
                    sites[a].phase,
                    a) < std::tie(sites[b].file, sites[b].line, sites[b].column,
                                  sites[b].phase, b);
  };
  std::ranges::sort(order, less);
  std::vector<bool> repeated(sites.size());
  for (size_t i = 1; i < order.size(); ++i) {
    repeated[order[i]] = sites[order[i]] == sites[order[i - 1]];
  }
  return repeated;
}

class RankPrinter {
 public:
  explicit RankPrinter(const Module& module)
      : module_(module), repeated_(FindRepeated(module.sites)) {}

  void Print(std::string& out, uint32_t rank) const {
    const RankProgram& program = module_.programs[rank];
    Append(out, "\nrank {}\n", rank);
    for (size_t i = 0; i < program.chunks.size(); ++i) {
      Append(out, "  chunk c{} s{}", i, program.chunks[i].stage.value);
      const uint32_t replica = program.chunks[i].replica;
      if (replica != 0) Append(out, " replica {}", replica);
      out += '\n';
    }
    Append(out, "  slots {}\n  stashes {}\n  code\n", program.slots,
           program.stashes);
    for (size_t pc = 0; pc < program.code.size(); ++pc) {
      PrintLine(out, program, pc);
    }
  }

 private:
  void PrintLine(std::string& out, const RankProgram& program,
                 size_t pc) const {
    const std::string text = PrintInstr(program.code[pc]);
    if (pc >= program.debug.size()) {
      Append(out, "    {}\n", text);
    } else {
      Append(out, "    {:<34} ; {}\n", text, DebugText(program.debug[pc]));
    }
  }

  std::string DebugText(const DebugEntry& entry) const {
    if (entry.site == kNoSite) {
      return entry.iteration == 0 ? "-" : fmt::format("-[{}]", entry.iteration);
    }
    if (entry.site >= module_.sites.size() || repeated_[entry.site]) {
      return fmt::format("#{}[{}]", entry.site, entry.iteration);
    }
    return PlaceText(module_.sites[entry.site], entry.iteration);
  }

  const Module& module_;
  const std::vector<bool> repeated_;
};

std::string StageAndMb(StageId stage, MicroBatch mb) {
  return fmt::format("s{} m{}", stage.value, mb.value);
}

// `op` is a typed view of a compute instruction.
template <class Op>
std::string ComputeName(char letter, const RankProgram& program, const Op& op) {
  if (op.chunk.value >= program.chunks.size()) {
    return fmt::format("{} c{} m{}", letter, op.chunk.value, op.mb.value);
  }
  return fmt::format("{} {}", letter,
                     StageAndMb(program.chunks[op.chunk.value].stage, op.mb));
}

template <class Op>
std::string MessageName(std::string_view verb, const Op& op) {
  return fmt::format("{} {} {}", verb, PayloadName(op.payload),
                     StageAndMb(op.stage, op.mb));
}

}  // namespace

std::string_view GroupKindName(GroupKind kind) {
  switch (kind) {
    case GroupKind::kReplicas:
      return "replicas";
    case GroupKind::kTied:
      return "tied";
  }
  return "?";
}

std::string Print(const Module& module) {
  std::string out;
  PrintHeader(out, module);
  PrintFacts(out, module.facts);
  PrintGroups(out, module.groups);
  PrintSites(out, module.sites);
  const RankPrinter printer(module);
  for (uint32_t rank = 0; rank < module.ranks(); ++rank) {
    printer.Print(out, rank);
  }
  return out;
}

std::string PrintInstr(const Instr& instr) {
  const OpInfo* info = FindOp(static_cast<uint8_t>(instr.op));
  if (info == nullptr) {
    return fmt::format("<opcode {:#04x}>", static_cast<uint8_t>(instr.op));
  }
  std::string text(info->mnemonic);
  for (size_t i = 0; i < info->operand_count; ++i) {
    const OperandInfo& operand = info->operands[i];
    Append(text, " {}{}", operand.name == kOutOperand ? "-> " : "",
           OperandText(operand.kind, instr.operand[i]));
  }
  return text;
}

std::string PrintSite(const Module& module, Rank rank, Pc pc) {
  if (rank.value >= module.ranks()) return "";
  const std::vector<DebugEntry>& debug = module.programs[rank.value].debug;
  if (pc.value >= debug.size()) return "";
  const DebugEntry& entry = debug[pc.value];
  if (entry.site >= module.sites.size()) return "";
  return PlaceText(module.sites[entry.site], entry.iteration);
}

std::string EventName(const RankProgram& program, const Instr& instr) {
  switch (instr.op) {
    case Opcode::kForward:
      return ComputeName('F', program, op::Forward::Of(instr));
    case Opcode::kBackward:
      return ComputeName('B', program, op::Backward::Of(instr));
    case Opcode::kBackwardInput:
      return ComputeName('I', program, op::BackwardInput::Of(instr));
    case Opcode::kBackwardWeight:
      return ComputeName('W', program, op::BackwardWeight::Of(instr));
    case Opcode::kSend:
      return MessageName("SEND", op::Send::Of(instr));
    case Opcode::kRecv:
      return MessageName("RECV", op::Recv::Of(instr));
    default:
      break;  // the other classes are named by their mnemonic
  }
  const OpInfo* info = FindOp(static_cast<uint8_t>(instr.op));
  return info == nullptr ? PrintInstr(instr) : std::string(info->mnemonic);
}

}  // namespace pp::bytecode
