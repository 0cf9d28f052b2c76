# Formulas of plain text, such as "y = exp(x) / (1 + e^-x)", as TeX.
package Formula;
use strict;
use warnings;
use utf8;
use Exporter 'import';
our @EXPORT = qw(to_tex);

my %symbols = (
  'Σ' => '\sum', 'Π' => '\prod', '·' => '\cdot', '≤' => '\le', '≥' => '\ge', '≠' => '\ne',
  '≈' => '\approx', '…' => '\dots', '∞' => '\infty', '±' => '\pm', '←' => '\leftarrow',
  '→' => '\to', '×' => '\times', '⊙' => '\odot', '∈' => '\in', '⌊' => '\lfloor', '⌋' => '\rfloor',
  '⌈' => '\lceil', '⌉' => '\rceil', '‖' => '\|', 'α' => '\alpha', 'β' => '\beta', 'γ' => '\gamma',
  'δ' => '\delta', 'ε' => '\varepsilon', 'η' => '\eta', 'θ' => '\theta', 'λ' => '\lambda',
  'μ' => '\mu', 'π' => '\pi', 'σ' => '\sigma', 'Φ' => '\Phi', '%' => '\%', '&' => '\&',
  '*' => '\ast');
my %scripts = ('²' => '^2', '³' => '^3', 'ᵀ' => '^\top', 'ₖ' => '_k');
my %functions = map { $_ => "\\$_" } qw(exp log max min tanh sin cos arg);
my %words = map { $_ => 1 } qw(if otherwise for over where and or of the with in at);

# A letter with the rest of the name as its subscript, "num_heads", or a word.
sub name_to_tex {
  my ($name) = @_;
  return $functions{$name} if $functions{$name};
  return "\\text{ $name }" if $words{$name};
  return $name if length $name == 1;
  if ($name =~ /^(\p{L})_(\w+)$/) {
    my ($letter, $rest) = ($1, $2);
    return "${letter}_{" . ($rest =~ /^\w$|^\d+$/ ? $rest : "\\mathrm{$rest}") . "}";
  }
  return "\\mathrm{$1}_$2" if $name =~ /^(\p{L}+)_(\w)$/;
  (my $escaped = $name) =~ s/_/\\_/g;
  return "\\mathrm{$escaped}";
}

my $parentheses = qr/(\((?:[^()]++|(?1))*\))/;

# Takes an operand, with its indices and exponents, from the start of the text. Returns its TeX, and
# that without the parentheses around it; nothing if none is there.
sub take_operand {
  my ($text) = @_;
  my ($tex, $bare);
  if ($$text =~ s/^√(?=[(\p{L}\d])//) {
    my (undef, $root) = take_operand($text);
    return ("\\sqrt{$root}", "\\sqrt{$root}");
  } elsif ($$text =~ s/^$parentheses//) {
    $bare = to_tex(substr($1, 1, -1));
    $tex = "($bare)";
  } elsif ($$text =~ s/^(\d+(?:\.\d+)?(?:e-?\d+)?)//) {
    $tex = $bare = $1 =~ /^(.+)e(.+)$/ ? "$1 \\cdot 10^{$2}" : $1;
  } elsif ($$text =~ s/^((?!Σ|Π)\p{L}\w*?)(?=_\{|[²³ᵀₖ]|[^\w]|$)//) {
    $tex = $bare = name_to_tex($1);
  } else {
    return;
  }
  while (1) {
    my $script;
    if ($$text =~ s/^([²³ᵀₖ])//) {
      $script = $scripts{$1};
    } elsif ($$text =~ s/^([_^])\{([^{}]*)\}// || $$text =~ s/^(\^)(-?\w+)//) {
      $script = "$1\{" . to_tex($2) . '}';
    } elsif ($$text =~ s/^\^$parentheses//) {
      $script = '^{' . to_tex(substr($1, 1, -1)) . '}';
    } elsif ($$text =~ s/^$parentheses//) {
      $script = '(' . to_tex(substr($1, 1, -1)) . ')';
    } else {
      return ($tex, $bare);
    }
    $bare = $tex .= $script;
  }
}

# "a b / c" is a fraction of what stands side by side before the slash and what comes after it.
sub to_tex {
  my ($text) = @_;
  my @parts;             # TeX
  my ($run, $bare) = 0;  # how many of the last parts are operands; the last without parentheses
  while (length $text) {
    my $is_fraction = $run && $text =~ s/^ \/ (?=[(√\p{L}\d])(?![ΣΠ])//;
    my ($tex, $tex_bare) = take_operand(\$text);
    if ($is_fraction) {
      my @over = splice @parts, -$run;
      @over = ($bare) if $run == 1;
      push @parts, $bare = "\\frac{@over}{$tex_bare}";
      $run = 1;
    } elsif (defined $tex) {
      $tex = "\\,$tex" if $run && $tex =~ /^\\mathrm/;
      push @parts, $tex;
      $bare = $tex_bare;
      ++$run;
    } else {
      push @parts, $text =~ s/^,\s\s+// ? ',\quad'
        : $text =~ s/^([ΣΠ])_(\w)// ? "$symbols{$1}_$2"
        : $text =~ s/^([ΣΠ])_\{([^{}]*)\}// ? "$symbols{$1}_{" . to_tex($2) . '}'
        : $text =~ s/^(.)//s ? $symbols{$1} // $scripts{$1} // $1 : '';
      # A space ends no run, unless an operator follows.
      $run = 0 if $parts[-1] ne ' ' || $text =~ /^[^(√\p{L}\d\/]/ || $text =~ /^[ΣΠ]/;
      pop @parts if $parts[-1] eq ' ';
    }
  }
  return join ' ', @parts;
}

1;
