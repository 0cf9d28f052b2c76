# What the scripts of this folder share: files, errors, and text that Doxygen shows as it is.
package Docs;
use strict;
use warnings;
use utf8;
use open qw(:std :utf8);
use Exporter 'import';
use File::Basename qw(dirname);
use File::Path qw(make_path);
use Formula;
our @EXPORT = qw(complain errors lines_of write_lines read_names declared escaped code_span);

my $errors = 0;
my %names;    # "Linear" => "Linear", "CrossEntropy" => "cross_entropy"

sub complain {
  print STDERR "@_\n";
  ++$errors;
}

sub errors { return $errors; }

sub lines_of {
  my ($path) = @_;
  open(my $file, '<', $path) or die "$path: $!\n";
  chomp(my @lines = <$file>);
  return @lines;
}

sub write_lines {
  my ($path, @lines) = @_;
  make_path(dirname $path);
  open(my $file, '>', $path) or die "$path: $!\n";
  print $file map { "$_\n" } @lines;
  close $file or die "$path: $!\n";
}

# Reads the names that headers declare in the namespace, of classes and functions.
sub read_names {
  for my $header (@_) {
    for (lines_of($header)) {
      $names{$1} = $1 if /^(?:class|struct|concept) (?:WEFT_API )?(\w+)/ && !/;$/;
      $names{join '', map { ucfirst } split /_/, $1} //= $1
        if /^[^\s}\/].*?\b(?!requires\b|to_string\b)([a-z]\w*)\(/ && !/^(?:requires|namespace)\b/;
    }
  }
}

# The class of this name, or the function of its words: "cross_entropy" for "CrossEntropy".
sub declared { return $names{$_[0]}; }

# Whether it is the name of a class or a function.
sub is_declared {
  my ($name) = @_;
  return ($names{join '', map { ucfirst } split /_/, $name} // '') eq $name;
}

# Text without code spans, so that Doxygen takes nothing in it for a command.
sub plain {
  my ($text) = @_;
  $text =~ s/([\\\@<>&#%~"|])/\\$1/g;
  $text =~ s/(?<=\S) - / – /g;
  $text =~ s/\b([a-z]+_\w+)\b(?!\.)/is_declared($1) ? "\\ref weft::$1 \"$1\"" : $1/ge;
  return $text;
}

# A code span: a link if it is the name of a class or a function, and, where these may be, a formula
# if it has " = ".
sub code_span {
  my ($code, $may_be_formula) = @_;
  return '\f$' . to_tex($code) . '\f$'
    if $may_be_formula && $code =~ / = / && $code !~ /;|(?<!_)\{/;
  my ($name) = $code =~ /^([A-Z]\w+|[a-z]\w*_\w+)(?:\(\))?$/;
  return "<tt>\\ref weft::$name \"$code\"</tt>" if $name && is_declared($name);
  # Doxygen would take "torch.exp()" for the function here.
  return "<tt>$code</tt>" if $code =~ s/(\.\w+)\(\)/$1&#40;)/;
  return $code =~ /'/ ? "``$code``" : "`$code`";
}

# Lines of text with code spans as Doxygen's Markdown, as many lines; `convert` is what is done to
# the rest of them.
sub escaped {
  my ($text, $convert) = @_;
  $convert //= \&plain;
  my ($result, $breaks) = ('', 0);    # the line breaks in the code span before
  for my $part (split /(`[^`]+`)/, $text) {
    if ($part =~ /^`([^`]+)`$/) {
      my $code = $1;
      $breaks = $code =~ s/\n\s*/ /g;
      $part = code_span($code, 1);
    } else {
      $part = $convert->($part);
      $part =~ s/^(\S*)/$1 . "\n" x $breaks/e;
      $breaks = 0;
    }
    $result .= $part;
  }
  return $result . "\n" x $breaks;
}

1;
