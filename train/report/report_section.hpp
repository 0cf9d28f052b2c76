// ReportSection: a section of a training report, with text, tables and attention maps.
#pragma once

#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"
#include "weft/train/report/profile.hpp"

namespace weft {

// The attention weights of a head.
struct AttentionMap {
  std::string title;      // for example "block 1, head 2"
  Tensor<float> weights;  // [queries, keys], from 0 to 1
};

// A block of a section. Each kind of block uses some of the members.
struct ReportBlock {
  // The kinds of blocks.
  enum class Kind { text, preformatted, table, confusion, attention, flame };
  Kind kind = Kind::text;  // the kind of this block
  std::string title;       // heading above the block
  std::string text = {};   // contents of text and preformatted text
  // The names of the columns and rows of a table, the classes of a confusion matrix, or the keys
  // and queries of attention maps.
  std::vector<std::string> columns = {}, rows = {};
  std::vector<std::vector<std::string>> cells = {};  // cells of a table, by row
  // A confusion matrix [classes, classes]; see `ReportSection::flame_graph` for flame graphs.
  Tensor<double> counts = {};
  std::vector<AttentionMap> maps = {};  // attention maps, each [queries, keys]
};

// A section of the HTML report, filled by the function passed to TrainingLoop::show_examples. All
// strings are UTF-8 and shown as plain text, not interpreted as HTML.
class WEFT_API ReportSection {
 public:
  // Adds text. Line breaks and spaces are kept. Only the first 20,000 bytes are shown.
  void text(std::string title, std::string text);
  // Adds text whose long lines are not wrapped, for example a table of Profile. Only the first
  // 20,000 bytes are shown.
  void preformatted(std::string title, std::string text);
  // Adds a table with named columns. Throws ShapeError for a row whose number of cells differs from
  // the number of columns.
  void table(std::string title, std::vector<std::string> columns,
             std::vector<std::vector<std::string>> rows);
  // Adds a confusion matrix [classes, classes]: `counts(i, j)` is the number of examples of class i
  // that were classified as j. Throws ShapeError for other shapes.
  void confusion(std::string title, const std::vector<std::string>& classes, Tensor<double> counts);
  // Adds the attention weights of several heads, [queries, keys] each, with the names of queries
  // and keys. Throws ShapeError for maps of other shapes.
  void attention(std::string title, std::vector<std::string> queries, std::vector<std::string> keys,
                 std::vector<AttentionMap> maps);
  // Adds a flame graph of the time per step by layer and operation, forward and backward. In the
  // block, `rows` are "layer operation", and the columns of `counts` [rows, 4] are milliseconds of
  // forward, milliseconds of backward, GFLOP, and the milliseconds that the machine needs at least.
  void flame_graph(std::string title, const Profile& profile);

  // All blocks, in the order of adding.
  const std::vector<ReportBlock>& blocks() const { return blocks_; }

 private:
  std::vector<ReportBlock> blocks_;
};

}  // namespace weft
