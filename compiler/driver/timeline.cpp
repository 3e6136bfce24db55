#include "compiler/driver/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace pp::driver {
namespace {

using analysis::Timeline;
using ir::Ticks;

// A piece of one rank's row.
struct Piece {
  Ticks begin, end;
  ir::OpKind kind;
  std::string label;
};

// Background colours per operation: F blue, B green, I cyan, W yellow.
constexpr const char* kColours[ir::kOpKinds] = {"44;97", "42;30", "46;30",
                                                "43;30"};

std::string Label(const ir::Schedule& schedule, uint32_t rank,
                  const ir::Op& op) {
  std::string label(ir::kOpNames[static_cast<size_t>(op.kind)]);
  if (schedule.placement.stage[rank].size() > 1) {
    label += static_cast<char>('a' + op.chunk % 26);
  }
  return label + std::to_string(op.mb);
}

std::vector<Piece> Row(const ir::Schedule& schedule, const Timeline& timeline,
                       const ir::CostModel& costs, uint32_t rank) {
  std::vector<Piece> pieces;
  const auto& ops = schedule.programs[rank];
  for (size_t i = 0; i < ops.size(); ++i) {
    Ticks begin = timeline.start[rank][i];
    std::string label = Label(schedule, rank, ops[i]);
    if (schedule.StartsPair(Rank(rank), i)) label += '&';
    pieces.push_back({begin, begin + costs.Shown(schedule, Rank(rank), i),
                      ops[i].kind, std::move(label)});
  }
  return pieces;
}

std::string Paint(const std::string& text, ir::OpKind kind, bool colour) {
  if (!colour) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", kColours[static_cast<size_t>(kind)],
                     text);
}

// How time becomes columns: `columns` of them for `ticks` of time.
struct Scale {
  Ticks ticks = 1;
  Ticks columns = 1;
  bool labels = false;  // every label fits its piece
  Ticks makespan = 0;

  size_t At(Ticks time) const {
    return static_cast<size_t>(time / ticks * columns +
                               time % ticks * columns / ticks);
  }
};

// The most columns that the label of any piece asks for, per unit of time.
Ticks ColumnsForLabels(const std::vector<std::vector<Piece>>& rows,
                       Ticks unit) {
  Ticks wanted = 1;
  for (const auto& row : rows) {
    for (const Piece& piece : row) {
      const Ticks units = (piece.end - piece.begin) / unit;
      const auto label = static_cast<Ticks>(piece.label.size()) + 1;
      wanted = std::max(wanted, (label + units - 1) / units);
    }
  }
  return wanted;
}

// Whole columns for the largest unit of which all times are multiples: as many
// as the labels need, or as fit; else the row is squeezed.
Scale Fit(const std::vector<std::vector<Piece>>& rows, size_t columns) {
  Scale scale;
  Ticks unit = 0;
  for (const auto& row : rows) {
    for (const Piece& piece : row) {
      scale.makespan = std::max(scale.makespan, piece.end);
      unit = std::gcd(unit, std::gcd(piece.begin, piece.end));
    }
  }
  if (unit == 0) return scale;
  const Ticks wanted = ColumnsForLabels(rows, unit);
  const Ticks fitting = static_cast<Ticks>(columns) / (scale.makespan / unit);
  scale.labels = wanted <= fitting;
  if (fitting > 0) {
    scale.ticks = unit;
    scale.columns = scale.labels ? wanted : fitting;
  } else {
    scale.ticks = scale.makespan / static_cast<Ticks>(columns) + 1;
  }
  return scale;
}

std::string LabelledRow(const std::vector<Piece>& row, const Scale& scale,
                        bool colour) {
  const char idle = colour ? ' ' : '.';
  std::string text;
  size_t column = 0;
  for (const Piece& piece : row) {
    text.append(scale.At(piece.begin) - column, idle);
    std::string body = piece.label;
    body.resize(scale.At(piece.end) - scale.At(piece.begin),
                colour ? ' ' : '-');
    if (!colour && body.back() != '&') body.back() = ' ';
    text += Paint(body, piece.kind, colour);
    column = scale.At(piece.end);
  }
  text.append(scale.At(scale.makespan) - column, idle);
  return text;
}

// One letter a column, of the operation in the middle of its time.
std::string LetterRow(const std::vector<Piece>& row, const Scale& scale,
                      bool colour) {
  std::string text;
  auto piece = row.begin();
  const Ticks columns = static_cast<Ticks>(scale.At(scale.makespan - 1)) + 1;
  for (Ticks column = 0; column < columns; ++column) {
    const Ticks middle = (2 * column + 1) * scale.ticks / (2 * scale.columns);
    while (piece != row.end() && piece->end <= middle) ++piece;
    if (piece == row.end() || piece->begin > middle) {
      text += '.';
    } else {
      text += Paint(piece->label.substr(0, 1), piece->kind, colour);
    }
  }
  return text;
}

}  // namespace

std::string TerminalTimeline(const ir::Schedule& schedule,
                             const Timeline& timeline,
                             const ir::CostModel& costs,
                             const TerminalStyle& style) {
  std::vector<std::vector<Piece>> rows;
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    rows.push_back(Row(schedule, timeline, costs, r));
  }
  constexpr size_t kMargin = 8;
  size_t columns = std::max<size_t>(style.columns, 40) - kMargin;
  Scale scale = Fit(rows, columns);
  std::string text;
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    text += fmt::format("{:>5} |{}|\n", fmt::format("r{}", r),
                        scale.labels ? LabelledRow(rows[r], scale, style.colour)
                                     : LetterRow(rows[r], scale, style.colour));
  }
  text +=
      fmt::format("{} column{} = {} of cost; `.` is idle\n", scale.columns,
                  scale.columns == 1 ? "" : "s", ir::PrintTicks(scale.ticks));
  return text;
}

}  // namespace pp::driver
