#include "compiler/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "llvm/ADT/StringExtras.h"

namespace pp::table {
namespace {

using diag::Code;

struct KindRow {
  llvm::StringLiteral name;
  CellKind kind;
  bool has_mb;
};

constexpr std::array<KindRow, 11> kKinds = {
    {{"F", CellKind::kF, true},
     {"B", CellKind::kB, true},
     {"I", CellKind::kI, true},
     {"W", CellKind::kW, true},
     {"SEND_F", CellKind::kSendF, true},
     {"RECV_F", CellKind::kRecvF, true},
     {"SEND_B", CellKind::kSendB, true},
     {"RECV_B", CellKind::kRecvB, true},
     {"UNSHARD", CellKind::kUnshard, false},
     {"RESHARD", CellKind::kReshard, false},
     {"REDUCE_GRAD", CellKind::kReduceGrad, false}}};

constexpr uint32_t kMost = 65534;  // stages, ranks, micro-batches

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class Parser {
 public:
  Parser(const source::SourceManager& sources, uint32_t file,
         diag::Emitter& diag)
      : text_(sources.Text(file)), file_(file), diag_(diag) {}

  std::optional<Table> Run() {
    while (at_ < text_.size()) Line();
    while (!table_.rows.empty() && table_.rows.back().empty()) {
      table_.rows.pop_back();  // empty lines at the end
    }
    if (!failed_) CheckOldBackwards();
    if (failed_) return std::nullopt;
    if (table_.rows.empty()) {
      diag_.Emit(Code::kTableCell, source::Span{file_, 0, 0},
                 "the table has no row");
      return std::nullopt;
    }
    return std::move(table_);
  }

 private:
  void Line() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const bool blank = text_.slice(at_, end).trim(" \t\r,").empty();
    // An empty line between rows is no rank.
    if (!blank || (!table_.rows.empty() && table_.rows.back().empty())) {
      table_.rows.emplace_back();
    }
    while (!blank && at_ < end) {
      const size_t comma = std::min(text_.find(',', at_), end);
      Field(at_, comma);
      at_ = comma + 1;
    }
    at_ = end + 1;
  }

  void Field(size_t begin, size_t end) {
    while (begin < end && IsBlank(text_[begin])) ++begin;
    while (end > begin && IsBlank(text_[end - 1])) --end;
    if (begin == end) return;
    const llvm::StringRef cell = text_.slice(begin, end);
    if (cell.front() != '(') return Action(cell, begin);
    constexpr llvm::StringLiteral kOverlap(")OVERLAP_F_B");
    const auto [first, second] = cell.drop_front().split(';');
    if (!cell.endswith(kOverlap) || second.empty()) {
      return Bad(begin, cell, "an overlapped pair is (0F1;3B0)OVERLAP_F_B");
    }
    const size_t before = table_.rows.back().size();
    Action(first, begin + 1);
    Join(before);
    Action(second.drop_back(kOverlap.size()), begin + 2 + first.size());
  }

  // The first of a pair; other pairs than `F & B` run one after the other.
  void Join(size_t at) {
    auto& row = table_.rows.back();
    if (row.size() > at && row[at].kind == CellKind::kF) row[at].joined = true;
  }

  void Action(llvm::StringRef cell, size_t begin) {
    Cell result;
    result.span = {file_, static_cast<uint32_t>(begin),
                   static_cast<uint32_t>(begin + cell.size())};
    llvm::StringRef rest = cell;
    const bool stage = !rest.consumeInteger(10, result.stage);
    const llvm::StringRef name =
        rest.take_while([](char c) { return llvm::isAlpha(c) || c == '_'; });
    rest = rest.drop_front(name.size());
    const auto* row =
        std::find_if(kKinds.begin(), kKinds.end(),
                     [&](const KindRow& k) { return k.name == name; });
    if (!stage || row == kKinds.end()) {
      const std::string upper = cell.upper();
      const bool known =
          std::any_of(kKinds.begin(), kKinds.end(),
                      [&](const KindRow& k) { return k.name == name.upper(); });
      return Bad(begin, cell,
                 known && upper != cell
                     ? "kinds are in capitals: `" + upper + "`"
                     : "a cell is STAGE KIND MICRO-BATCH, such as 0F1; kinds "
                       "are F, B, I, W, SEND_F, RECV_F, SEND_B, RECV_B, "
                       "UNSHARD, RESHARD, REDUCE_GRAD");
    }
    if (row->has_mb && rest.consumeInteger(10, result.mb)) {
      return Bad(begin, cell, "it names no micro-batch");
    }
    if (!rest.empty()) {
      return Bad(
          begin, cell,
          "nothing may follow `" + cell.drop_back(rest.size()).str() + "`");
    }
    if (result.stage > kMost || result.mb > kMost) {
      return Bad(begin, cell, fmt::format("numbers go up to {}", kMost));
    }
    result.kind = row->kind;
    table_.has_comm |= IsComm(result.kind);
    table_.has_reduce_grad |= result.kind == CellKind::kReduceGrad;
    table_.rows.back().push_back(result);
  }

  void Bad(size_t begin, llvm::StringRef cell, const std::string& why) {
    failed_ = true;
    diag_
        .Emit(Code::kTableCell,
              source::Span{file_, static_cast<uint32_t>(begin),
                           static_cast<uint32_t>(begin + cell.size())},
              fmt::format("`{}` is no action of a schedule table", cell.str()))
        .Help(why);
  }

  // See table.h.
  void CheckOldBackwards() {
    const Cell* w = nullptr;
    for (const auto& row : table_.rows) {
      for (const Cell& cell : row) {
        if (cell.kind == CellKind::kI) return;
        if (cell.kind == CellKind::kW && w == nullptr) w = &cell;
      }
    }
    if (w == nullptr) return;
    failed_ = true;
    diag_
        .Emit(Code::kTableOldBackward, w->span,
              fmt::format("{0}W{1} has no {0}I{1} before it, and the table has "
                          "no `I` at all",
                          w->stage, w->mb))
        .Help(
            "`B` is the whole backward, after which a `W` would add the "
            "weight gradient again; in tables from before PyTorch had `I` it "
            "means the input gradient: write `I` for `B` there");
  }

  llvm::StringRef text_;
  uint32_t file_;
  diag::Emitter& diag_;
  size_t at_ = 0;
  Table table_;
  bool failed_ = false;
};

// Where each stage lives: the row of its compute cells.
class Placer {
 public:
  Placer(const Table& table, uint32_t file, diag::Emitter& diag)
      : table_(table), file_(file), diag_(diag) {}

  std::optional<ir::Placement> Run() {
    for (uint32_t r = 0; r < table_.rows.size(); ++r) {
      for (const Cell& cell : table_.rows[r]) Take(r, cell);
    }
    if (failed_) return std::nullopt;
    ir::Placement placement;
    placement.text = "table";
    placement.stages = first_.empty() ? 0 : first_.rbegin()->first + 1;
    placement.stage.resize(table_.rows.size());
    for (uint32_t s = 0; s < placement.stages; ++s) {
      const auto found = first_.find(s);
      if (found == first_.end()) {
        diag_.Emit(Code::kTablePlacement, source::Span{file_, 0, 0},
                   fmt::format("stage {} is on no row, but stage {} is there",
                               s, placement.stages - 1));
        return std::nullopt;
      }
      auto& stages = placement.stage[found->second.first];
      placement.home.push_back(
          {Rank(found->second.first), static_cast<uint32_t>(stages.size())});
      stages.push_back(s);
    }
    return placement;
  }

 private:
  void Take(uint32_t row, const Cell& cell) {
    const auto [found, fresh] = first_.try_emplace(cell.stage, row, &cell);
    if (fresh || found->second.first == row) return;
    failed_ = true;
    diag_
        .Emit(Code::kTablePlacement, cell.span,
              fmt::format("stage {} is on row {} and on row {}", cell.stage,
                          found->second.first, row))
        .Note(found->second.second->span,
              fmt::format("row {} has it here", found->second.first));
  }

  const Table& table_;
  uint32_t file_;
  diag::Emitter& diag_;
  std::map<uint32_t, std::pair<uint32_t, const Cell*>> first_;
  bool failed_ = false;
};

}  // namespace

ir::OpKind OpKindOf(CellKind kind) { return static_cast<ir::OpKind>(kind); }

bool IsCompute(CellKind kind) { return kind <= CellKind::kW; }

bool IsComm(CellKind kind) {
  return kind >= CellKind::kSendF && kind <= CellKind::kRecvB;
}

std::optional<Table> Parse(const source::SourceManager& sources, uint32_t file,
                           diag::Emitter& diag) {
  return Parser(sources, file, diag).Run();
}

namespace {

// Of the cells written as a pair those that are one: F, then B or I.
void Pair(ir::Schedule& schedule, uint32_t rank,
          const std::vector<size_t>& joined) {
  const auto& program = schedule.programs[rank];
  for (const size_t at : joined) {
    if (at + 1 == program.size()) continue;
    const ir::OpKind second = program[at + 1].kind;
    if (second != ir::OpKind::kB && second != ir::OpKind::kI) continue;
    schedule.paired.resize(schedule.ranks);
    schedule.paired[rank].resize(at + 1);
    schedule.paired[rank][at] = true;
  }
}

}  // namespace

std::optional<ir::Schedule> ToSchedule(const Table& table, std::string name,
                                       uint32_t file, diag::Emitter& diag) {
  auto placement = Placer(table, file, diag).Run();
  if (!placement) return std::nullopt;
  ir::Schedule schedule;
  schedule.name = std::move(name);
  schedule.name_span = {file, 0, 0};
  schedule.placement = std::move(*placement);
  schedule.ranks = static_cast<uint32_t>(table.rows.size());
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    auto& program = schedule.programs.emplace_back();
    std::vector<size_t> joined;
    for (const Cell& cell : table.rows[r]) {
      if (!IsCompute(cell.kind)) continue;
      schedule.micro_batches = std::max(schedule.micro_batches, cell.mb + 1);
      const auto chunk = schedule.placement.home[cell.stage].chunk;
      program.push_back({OpKindOf(cell.kind), static_cast<uint16_t>(chunk),
                         cell.mb, static_cast<uint32_t>(schedule.sites.size()),
                         0});
      schedule.sites.push_back({cell.span, ""});
      if (cell.joined) joined.push_back(program.size() - 1);
    }
    Pair(schedule, r, joined);
  }
  schedule.params = {{"P", schedule.ranks}, {"M", schedule.micro_batches}};
  return schedule;
}

std::string Print(const ir::Schedule& schedule) {
  std::string text;
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    const auto& program = schedule.programs[r];
    for (size_t i = 0; i < program.size(); ++i) {
      const ir::Op& op = program[i];
      const bool first = schedule.StartsPair(Rank(r), i);
      const bool second = schedule.EndsPair(Rank(r), i);
      text += fmt::format("{}{}{}{}{}{}",
                          second   ? ";"
                          : i == 0 ? ""
                                   : ",",
                          first ? "(" : "", schedule.StageOf(Rank(r), op.chunk),
                          ir::kOpNames[static_cast<size_t>(op.kind)], op.mb,
                          second ? ")OVERLAP_F_B" : "");
    }
    text += "\n";
  }
  return text;
}

}  // namespace pp::table
