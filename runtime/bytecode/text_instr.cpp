#include "runtime/bytecode/text_instr.h"

#include <fmt/format.h>

#include <array>
#include <tuple>

#include "runtime/base/edit_distance.h"

namespace pp::bytecode::text {
namespace {

std::vector<std::string_view> Mnemonics() {
  std::vector<std::string_view> names;
  for (const OpInfo& info : AllOps()) names.push_back(info.mnemonic);
  return names;
}

uint32_t ParsePayload(Cursor& in) {
  constexpr std::array<std::string_view, kPayloadCount> kNames = {"act",
                                                                  "grad"};
  const std::string_view word = in.Word();
  for (uint32_t i = 0; i < kPayloadCount; ++i) {
    if (word == kNames[i]) return i;
  }
  if (word.empty()) {
    in.FailExpected("`act` or `grad`");
  } else {
    in.Fail(fmt::format("expected `act` or `grad`, found {}{}", Show(word),
                        Suggestion(word, kNames)));
  }
  return 0;
}

uint32_t ParseOperand(Cursor& in, const OperandInfo& operand) {
  if (operand.kind == OperandKind::kPayload) return ParsePayload(in);
  if (operand.name == kOutOperand) in.Expect("->");
  if (operand.kind == OperandKind::kSlot && in.NextIs('-')) {
    in.Expect("-");
    return kNoSlot.value;
  }
  return in.Prefixed(OperandPrefix(operand.kind),
                     fmt::format("operand `{}`", operand.name));
}

uint32_t ParseIteration(Cursor& in) {
  if (!in.Accept("[")) return 0;
  const uint32_t iteration = in.Number("an iteration");
  in.Expect("]");
  return iteration;
}

DebugEntry ParseNumberedSite(Cursor& in, const SiteTable& sites) {
  const uint32_t site = in.Number("a site's number");
  if (in.ok() && site >= sites.size()) {
    in.Fail(fmt::format("no site {}: there are {}", site, sites.size()));
  }
  return {site, ParseIteration(in)};
}

}  // namespace

Instr ParseInstr(Cursor& in, std::string_view mnemonic) {
  const OpInfo* info = FindOp(mnemonic);
  if (info == nullptr) {
    in.FailUnknown("instruction", mnemonic, Mnemonics());
    return {};
  }
  Instr instr{info->op, {}};
  for (size_t i = 0; i < info->operand_count && in.ok(); ++i) {
    instr.operand[i] = ParseOperand(in, info->operands[i]);
  }
  return instr;
}

bool SiteTable::Less::operator()(const Site& a, const Site& b) const {
  return std::tie(a.file, a.line, a.column, a.phase) <
         std::tie(b.file, b.line, b.column, b.phase);
}

void SiteTable::Add(Site site) {
  index_.try_emplace(site, static_cast<uint32_t>(sites_.size()));
  sites_.push_back(std::move(site));
}

uint32_t SiteTable::FindOrAdd(const Site& site) {
  const auto next = static_cast<uint32_t>(sites_.size());
  const auto [it, added] = index_.try_emplace(site, next);
  if (added) sites_.push_back(site);
  return it->second;
}

Site ParseSite(Cursor& in) {
  Site site;
  site.file = in.Name("a file");
  in.Expect(":");
  site.line = in.Number("a line");
  in.Expect(":");
  site.column = in.Number("a column");
  if (in.ok() && !in.AtEnd() && !in.NextIs('['))
    site.phase = in.Name("a phase");
  return site;
}

DebugEntry ParseDebug(Cursor& in, SiteTable& sites) {
  if (in.Accept("-")) return {kNoSite, ParseIteration(in)};
  if (in.Accept("#")) return ParseNumberedSite(in, sites);
  const Site site = ParseSite(in);
  const uint32_t iteration = ParseIteration(in);
  if (!in.ok()) return {};
  return {sites.FindOrAdd(site), iteration};
}

}  // namespace pp::bytecode::text
