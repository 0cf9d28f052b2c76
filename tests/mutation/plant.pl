#!/usr/bin/env perl
# plant.pl TREE FOLDER LIST...: writes the files of TREE that the lists name to FOLDER, with each
# mistake behind a switch, and prints "number<TAB>kind<TAB>file<TAB>description" for each mistake.
#
# A mistake in a list:
#
#   == beyond: exp: the slopes of the first range in every range
#   autograd/ops/elementwise.cpp
#   <<
#   text to replace
#   >>
#   replacement
#
# "beyond" says that it changes what lies beyond the first range, strip, tile or part only, "any"
# that it does not. The text is found exactly once in the file; it is one or more statements, with
# their ';' or '}', or else an expression. In a text with a part between @{ and }@, only that part is
# replaced. Several mistakes may replace the same text. A line of either that begins with "== " or is
# ">>" is written with a backslash before it, and so is one that begins with such a backslash.
use strict;
use warnings;

my ($tree, $folder, @lists) = @ARGV;
my %mistakes;    # of each file: text => [mistakes]
my $errors = 0;

sub complain {
  print STDERR "mutation: @_\n";
  ++$errors;
}

sub contents {
  my ($path) = @_;
  open(my $file, '<', $path) or die "$path: $!\n";
  local $/;
  return scalar <$file>;
}

# Stays the same when other mistakes are added, so that little is compiled again.
sub number_of {
  my $hash = 7;
  $hash = ($hash * 31 + ord) % 2147483629 for split //, join('|', @_);
  return $hash;
}

for my $list (@lists) {
  my (undef, @entries) = split /^== /m, contents($list);
  for my $entry (@entries) {
    my ($kind, $description, $file, $old, $new) =
      $entry =~ /\A(beyond|any): ([^\n]*)\n([^\n]+)\n<<\n(.*?)\n>>\n(.*?)\s*\z/s;
    if (!defined $new) {
      complain("$list: not understood:\n$entry");
      next;
    }
    s/^\\(?=\\*(?:== |>>$))//mg for $old, $new;
    my $number = number_of($description, $file, $old, $new);
    print "$number\t$kind\t$file\t$description\n";
    push @{ $mistakes{$file}{$old} }, { number => $number, new => $new, description => $description };
  }
}

for my $file (sort keys %mistakes) {
  my $source = eval { contents("$tree/$file") };
  if (!defined $source) {
    complain("$file: not found");
    next;
  }
  my @places;    # [position, replaced text, mistakes]
  for my $old (keys %{ $mistakes{$file} }) {
    my ($before, $replaced, $after) = $old =~ /\A(.*)\@\{(.*)\}\@(.*)\z/s ? ($1, $2, $3) : ('', $old, '');
    my $text = "$before$replaced$after";
    my $position = index($source, $text);
    my $again = $position < 0 ? -1 : index($source, $text, $position + 1);
    if ($position < 0 || $again >= 0) {
      my $found = $position < 0 ? 'not found' : 'found more than once';
      complain("$file: $mistakes{$file}{$old}[0]{description}: $found:\n$old");
      next;
    }
    push @places, [$position + length $before, $replaced, $mistakes{$file}{$old}];
  }
  my $end = length $source;
  for my $place (sort { $b->[0] <=> $a->[0] } @places) {
    my ($position, $old, $alternatives) = @$place;
    my $length = length $old;
    if ($position + $length > $end) {
      complain("$file: overlaps another mistake:\n$old");
      next;
    }
    $end = $position;
    my $is_statement = $old =~ /;[\s}]*\z/;
    my $text = $old;
    for my $mistake (@$alternatives) {
      my ($number, $new) = @$mistake{qw(number new)};
      $text = $is_statement
        ? "if (weft_mistake($number)) { $new } else { $text }"
        : "(weft_mistake($number) ? ($new) : ($text))";
    }
    substr($source, $position, $length) = $text;
  }
  my $path = "$folder/$file";
  my $made = '';
  for my $part (split m{/}, $path) {
    mkdir $made if length $made && !-d $made;
    $made .= "/$part" if length $part;
  }
  open(my $out, '>', $path) or die "$path: $!\n";
  print $out $source;
  close $out or die "$path: $!\n";
}
exit($errors ? 1 : 0);
