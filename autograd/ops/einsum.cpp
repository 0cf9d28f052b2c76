#include "weft/autograd/ops/einsum.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "weft/autograd/operation.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/permute.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "weft/autograd/ops/shaping.hpp"

namespace weft {
namespace {

bool contains(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// Returns the letters for which `is_chosen` holds.
template <class Condition>
std::string chosen(const std::string& letters, const Condition& is_chosen) {
  std::string result;
  std::copy_if(letters.begin(), letters.end(), std::back_inserter(result), is_chosen);
  return result;
}

// The letters of the axes of a, b and the result.
struct Equation {
  std::string a, b, result;
};

Equation parse(std::string_view text) {
  const auto check = [text](bool holds) {
    if (!holds)
      fail<ValueError>("einsum", "an equation such as bqd,bkd->bqk, with no letter twice in a term",
                       text);
  };
  const std::size_t comma = text.find(','), arrow = text.find("->");
  check(comma < arrow && arrow != text.npos);
  Equation equation{std::string(text.substr(0, comma)),
                    std::string(text.substr(comma + 1, arrow - comma - 1)),
                    std::string(text.substr(arrow + 2))};
  for (const std::string& letters : {equation.a, equation.b, equation.result})
    for (const char letter : letters)
      check(((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')) &&
            std::count(letters.begin(), letters.end(), letter) == 1);
  for (const char letter : equation.result)
    check(contains(equation.a, letter) || contains(equation.b, letter));
  return equation;
}

// A tensor and the letters of its axes.
template <class T>
struct Named {
  Var<T> x;
  std::string letters;

  Index size(char letter) const { return x.shape()[static_cast<Index>(letters.find(letter))]; }
  Index size(const std::string& some) const {
    Index product = 1;
    for (const char letter : some) product *= size(letter);
    return product;
  }

  Named permuted(const std::string& order) const {
    std::vector<Index> axes;
    for (const char letter : order) axes.push_back(static_cast<Index>(letters.find(letter)));
    return {permute(x, std::span<const Index>(axes)), order};
  }

  // Returns the tensor summed over the letters that are in neither `other` nor `result`.
  Named summed_unless_in(const std::string& other, const std::string& result) const {
    Named sums = *this;
    for (const char letter : letters)
      if (!contains(other, letter) && !contains(result, letter)) {
        const auto axis = sums.letters.find(letter);
        sums = {sum(sums.x, {static_cast<Index>(axis)}), std::string(sums.letters).erase(axis, 1)};
      }
    return sums;
  }
};

template <class T>
void check_rank(const char* operand, const Named<T>& named) {
  if (std::ssize(named.letters) != named.x.rank())
    fail<ShapeError>(str_cat("einsum: operand ", operand),
                     str_cat(named.letters.size(), " axes (", named.letters, ")"), named.x.shape());
}

// Returns the operand as matrices [batch, free, shared] or [batch, shared, free]. The second form
// is used if no element must be moved for it; `transposed` is then true.
template <class T>
Var<T> matrices(const Named<T>& named, const std::string& batch, const std::string& free,
                const std::string& shared, bool& transposed) {
  transposed = named.letters == batch + shared + free;
  const Index rows = named.size(transposed ? shared : free);
  const Index columns = named.size(transposed ? free : shared);
  const Var<T> x = transposed ? named.x : named.permuted(batch + free + shared).x;
  if (batch.empty()) return reshape(x, Shape{rows, columns});
  return reshape(x, Shape{named.size(batch), rows, columns});
}

}  // namespace

// Forward:  y = the matrix product of a and b, with their axes ordered and merged to [axes in a, b
//           and the result; axes in one operand and the result; axes in a and b only].
// Backward: the backward functions of the operations that forward is composed of.
template <class T>
Var<T> einsum(std::string_view equation, const Var<T>& a_var, const Var<T>& b_var) {
  tape_of("einsum", a_var, b_var);
  const Equation letters = parse(equation);
  Named<T> a{a_var, letters.a}, b{b_var, letters.b};
  check_rank("a", a);
  check_rank("b", b);
  for (const char letter : letters.a)
    if (contains(letters.b, letter) && a.size(letter) != b.size(letter))
      fail<ShapeError>(str_cat("einsum ", equation), str_cat("equal sizes of ", letter),
                       str_cat(a.x.shape(), " and ", b.x.shape()));
  a = a.summed_unless_in(letters.b, letters.result);
  b = b.summed_unless_in(letters.a, letters.result);

  const auto in_both = [&](char letter) {
    return contains(a.letters, letter) && contains(b.letters, letter);
  };
  const auto in_result = [&](char letter) { return contains(letters.result, letter); };
  const std::string batch = chosen(letters.result, in_both);
  const std::string shared =
      chosen(a.letters, [&](char letter) { return in_both(letter) && !in_result(letter); });
  const std::string of_a =
      chosen(letters.result, [&](char letter) { return !contains(b.letters, letter); });
  const std::string of_b =
      chosen(letters.result, [&](char letter) { return !contains(a.letters, letter); });

  bool a_transposed = false, b_transposed = false;
  const Var<T> left = matrices(a, batch, of_a, shared, a_transposed);
  const Var<T> right = matrices(b, batch, of_b, shared, b_transposed);
  const Var<T> product =
      matmul(left, right, {.transpose_a = a_transposed, .transpose_b = !b_transposed});
  std::vector<Index> sizes;
  for (const char letter : batch + of_a) sizes.push_back(a.size(letter));
  for (const char letter : of_b) sizes.push_back(b.size(letter));
  return Named<T>{reshape(product, Shape(std::span<const Index>(sizes))), batch + of_a + of_b}
      .permuted(letters.result)
      .x;
}

template Var<float> einsum(std::string_view, const Var<float>&, const Var<float>&);
template Var<double> einsum(std::string_view, const Var<double>&, const Var<double>&);

}  // namespace weft
