#include "compiler/analysis/comm_entries.h"

#include "llvm/ADT/IntEqClasses.h"

namespace pp::analysis {
namespace {

using bytecode::Opcode;

bool IsTransfer(Opcode op) {
  return op == Opcode::kSend || op == Opcode::kRecv;
}

class Builder {
 public:
  explicit Builder(const bytecode::Module& module) : module_(module) {
    for (const auto& program : module.programs) {
      all_.transfer_at.emplace_back(program.code.size(), kNoEntry);
      all_.entry_at.emplace_back(program.code.size(), kNoEntry);
    }
  }

  CommEntries Run(const CommMatch& match) {
    NumberTransfers(match);
    for (uint32_t r = 0; r < module_.ranks(); ++r) CutIntoEntries(Rank(r));
    FindComponents();
    return std::move(all_);
  }

 private:
  void NumberTransfers(const CommMatch& match) {
    for (const Channel& c : match.channels) {
      for (size_t i = 0; i < c.sends.size(); ++i) {
        const auto number = static_cast<uint32_t>(all_.transfers.size());
        all_.transfers.push_back({{c.from, c.sends[i]}, {c.to, c.receives[i]}});
        all_.transfer_at[c.from.value][c.sends[i].value] = number;
        all_.transfer_at[c.to.value][c.receives[i].value] = number;
      }
    }
  }

  void CutIntoEntries(Rank rank) {
    const auto& code = module_.programs[rank.value].code;
    bool grouped = false;
    Entry entry;
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
      const Opcode op = code[pc].op;
      if (op == Opcode::kGroupBegin || (IsTransfer(op) && !grouped)) {
        entry = {rank, Pc(pc), Pc(pc), {}, 0};
      }
      if (op == Opcode::kGroupBegin) grouped = true;
      if (op == Opcode::kGroupEnd) grouped = false;
      if (IsTransfer(op)) {
        entry.transfers.push_back(all_.transfer_at[rank.value][pc]);
        all_.entry_at[rank.value][pc] =
            static_cast<uint32_t>(all_.entries.size());
      }
      const bool ends = op == Opcode::kGroupEnd || (IsTransfer(op) && !grouped);
      if (!ends || entry.transfers.empty()) continue;
      entry.end = Pc(pc);
      all_.entry_at[rank.value][pc] =
          static_cast<uint32_t>(all_.entries.size());
      all_.entries.push_back(std::move(entry));
    }
  }

  void FindComponents() {
    const auto count = static_cast<unsigned>(all_.entries.size());
    llvm::IntEqClasses classes(count);
    std::vector<uint32_t> first(all_.transfers.size(), kNoEntry);
    for (unsigned e = 0; e < count; ++e) {
      for (const uint32_t t : all_.entries[e].transfers) {
        if (first[t] != kNoEntry) classes.join(first[t], e);
        first[t] = e;
      }
    }
    classes.compress();
    all_.components = classes.getNumClasses();
    all_.joined.assign(all_.components, false);
    for (unsigned e = 0; e < count; ++e) {
      Entry& entry = all_.entries[e];
      entry.component = classes[e];
      if (entry.transfers.size() > 1) all_.joined[entry.component] = true;
    }
  }

  const bytecode::Module& module_;
  CommEntries all_;
};

}  // namespace

CommEntries BuildEntries(const bytecode::Module& module,
                         const CommMatch& match) {
  return Builder(module).Run(match);
}

}  // namespace pp::analysis
